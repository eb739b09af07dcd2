"""A training step must keep these limits; a failure names the ops and lines that cost most."""

import pytest
import tensorflow as tf
from model import batch, build


@pytest.mark.tfprof(max_params=13_610, max_flops="120 MFLOPs", max_retraces=0, max_step_ms=10_000)
def test_training_step(tfprof_profile):
    """A step, after the first one."""
    model = build()
    pixels, labels = batch()
    model.train_on_batch(pixels, labels)  # traces its function

    with tfprof_profile(model) as t:
        for _ in range(3):
            model.train_on_batch(pixels, labels)
            t.step()


def test_write_a_capture():
    """For tfprof check: the steps of a training, marked, and the model."""
    model = build()
    batches = iter(tf.data.Dataset.from_tensors(batch()).repeat().prefetch(2))
    model.train_on_batch(*next(batches))
    with tf.profiler.experimental.Profile("capture"):
        for step in range(10):
            with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
                model.train_on_batch(*next(batches))
    model.export("exported", verbose=False)
