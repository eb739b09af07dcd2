"""Profile a Keras model in a TF1 session: FLOPs, parameters, time, memory, advice, timelines.

python examples/keras_session.py

Needs TensorFlow and tf_keras. This is how profiling was done before TensorFlow 2, with `tfprof`
in place of `tf.profiler`.
"""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # Keras 3 has no sessions

import numpy as np
import tensorflow.compat.v1 as tf

import tfprof

tf.disable_eager_execution()
K = tf.keras.backend


def get_flops() -> int:
    """Float operations of everything in the Keras session."""
    run_meta = tf.RunMetadata()
    opts = tfprof.ProfileOptionBuilder.float_operation()
    flop = tfprof.profile(
        graph=K.get_session().graph, run_meta=run_meta, cmd="op", options={**opts, "output": "none"}
    )
    return flop.total_float_ops


def stats_graph(graph: tf.Graph) -> None:
    """Print float operations and parameters of a graph."""
    builder = tfprof.ProfileOptionBuilder
    flops = tfprof.profile(graph, options={**builder.float_operation(), "output": "none"})
    params = tfprof.profile(
        graph, options={**builder.trainable_variables_parameter(), "output": "none"}
    )
    print(f"FLOPs: {flops.total_float_ops};    Trainable params: {params.total_parameters}")


def profile_steps(model: tf.keras.Model, n_steps: int) -> tfprof.Profiler:
    """Run the model, with a trace of each step, and write each as a Chrome timeline, too."""
    run_options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    run_metadata = tf.RunMetadata()
    fn = K.function(model.inputs, model.outputs, options=run_options, run_metadata=run_metadata)

    profiler = tfprof.Profiler(graph=K.get_session().graph, op_log=None)
    for step in range(n_steps):
        fn([np.full([8, 4], step)])
        profiler.add_step(step=step, run_meta=run_metadata)

        tl = tfprof.Timeline(run_metadata.step_stats)
        ctf = tl.generate_chrome_trace_format()
        with open(f"timeline_{step}.json", "w") as f:  # noqa: PTH123
            f.write(ctf)
    return profiler


def main() -> None:
    """Build a model and ask everything."""
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(
                32,
                input_dim=4,
                bias_initializer=tf.keras.initializers.Constant(value=0),
                kernel_initializer=tf.keras.initializers.Constant(value=1),
                name="dense",
            )
        ]
    )
    stats_graph(K.get_session().graph)
    print(f"In the session: {get_flops()}")
    profiler = profile_steps(model, 4)

    opts = tfprof.ProfileOptionBuilder.trainable_variables_parameter()
    param_stats = profiler.profile_name_scope(options=opts)
    print("Parameters:", param_stats.total_parameters)
    for x in param_stats.children:
        print(x.name, "has", x.total_parameters)

    builder = tfprof.ProfileOptionBuilder
    opts = builder(builder.time_and_memory(min_micros=0, min_bytes=0))
    opts.with_step(1)
    opts.with_timeline_output("timeline.json")
    profiler.profile_graph(opts.build())

    profiler.advise(
        options={
            "AcceleratorUtilizationChecker": {},
            "ExpensiveOperationChecker": {},
            "JobChecker": {},
            "OperationChecker": {},
        }
    )
    with open("profile.pb", "wb") as f:  # noqa: PTH123
        f.write(profiler.serialize_to_string())


if __name__ == "__main__":
    main()
