import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfprof
from tfprof.files.events import TaggedRun, read_events

from .event_files import event, event_file, graph_event, meta_graph_event, run_event

SCALAR = event((5, b"\n\x05\n\x01s\x15"), step=7)
WHOLE = event_file(graph_event(b"G"), SCALAR, run_event("step7", b"RUN", step=7))


def test_graphs_and_runs_are_found_among_what_is_plotted():
    log = read_events(
        event_file(
            graph_event(b"old"), meta_graph_event(b"META"), SCALAR,
            run_event("a", b"RUN1"), graph_event(b"new"), run_event("b/größe", b"RUN2", step=300),
        )
    )  # fmt: skip
    assert (log.graph, log.meta_graph, log.damage) == (b"new", b"META", "")
    assert log.runs == [TaggedRun("a", 0, b"RUN1"), TaggedRun("b/größe", 300, b"RUN2")]


def test_nothing():
    log = read_events(b"")
    assert (log.graph, log.meta_graph, log.runs, log.damage) == (None, None, [], "")


def test_what_was_written_before_the_program_was_killed_is_read():
    for size in range(len(WHOLE)):
        log = read_events(WHOLE[:size])
        assert log.graph in (None, b"G")
        assert not log.runs
        ends = [len(event_file()), len(event_file(graph_event(b"G")))]
        ends += [0, len(event_file(graph_event(b"G"), SCALAR))]
        assert bool(log.damage) == (size not in ends)


@pytest.mark.parametrize(
    ("place", "what"),
    [(0, "the length of the record"), (9, "the length of the record"), (12, "the record"),
     (-1, "the record")],
)  # fmt: skip
def test_checksums_are_verified(place, what):
    sound = event_file(graph_event(b"G"))
    last = bytearray(event_file(graph_event(b"G"), run_event("step7", b"RUN"))[len(sound) :])
    last[place] ^= 1
    log = read_events(sound + last)
    assert log.damage == f"{what} at byte {len(sound)} is damaged"
    assert (log.graph, log.runs) == (b"G", [])


@given(st.binary(max_size=200))
def test_any_bytes(data):
    read_events(data)
    log = read_events(event_file(data))
    assert log.damage in ("", f"the record at byte {len(event_file())} is damaged")


@given(st.integers(0, len(WHOLE) - 1), st.integers(1, 255))
def test_a_flipped_byte_changes_nothing_that_is_taken(place, flipped):
    data = bytearray(WHOLE)
    data[place] ^= flipped
    log = read_events(memoryview(data))
    assert log.graph in (None, b"G")
    assert log.runs in ([], [TaggedRun("step7", 7, b"RUN")])


@pytest.mark.tensorflow
def test_files_of_tensorflow(tmp_path):
    import tensorflow as tf

    v1 = tf.compat.v1
    graph = tf.Graph()
    with graph.as_default(), v1.Session() as session:
        a = v1.placeholder(tf.float32, [8, 16], name="a")
        product = tf.matmul(a, tf.ones([16, 4]), name="product")
        writer = v1.summary.FileWriter(str(tmp_path), graph)
        options = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
        written = {}
        for step in (0, 50):
            run = written[step] = v1.RunMetadata()
            session.run(product, {a: [[1.0] * 16] * 8}, options=options, run_metadata=run)
            writer.add_run_metadata(run, f"step{step}", step)
        writer.close()
    (path,) = tmp_path.iterdir()
    log = read_events(path.read_bytes())
    assert v1.GraphDef.FromString(log.graph) == graph.as_graph_def(add_shapes=True)
    assert log.meta_graph is not None
    assert [(run.tag, run.step) for run in log.runs] == [("step0", 0), ("step50", 50)]
    for run in log.runs:
        assert v1.RunMetadata.FromString(run.data) == written[run.step]
    profiler = tfprof.open_profile(tmp_path)
    assert profiler.steps == [0, 50]
    micros = {row["name"]: row["exec_micros"] for row in profiler.view("scope").to_rows()}
    assert micros["product"] > 0
