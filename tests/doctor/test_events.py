from tests.files.event_files import event_file, graph_event, run_event
from tfprof.core.wire import messages as pb
from tfprof.doctor.contents import check_events

GRAPH = pb.GraphDef(node=[pb.NodeDef(name="a", op="NoOp")]).SerializeToString()


def found(data):
    return [(check.status, check.message) for check in check_events(data)]


def test_a_graph_and_a_run_that_was_not_traced():
    data = event_file(graph_event(GRAPH), run_event("step1", b"", step=1))
    assert found(data) == [
        ("ok", "TensorFlow events file: 1 traced run and a graph"),
        ("ok", "GraphDef: 1 op"),
        ("error", "RunMetadata without step_stats, so the run was not traced (it is empty)"),
    ]


def test_nothing_that_tfprof_reads():
    ((status, message),) = found(event_file())
    assert (status, message) == ("note", "TensorFlow events file without a graph or traced runs")


def test_a_program_that_was_killed():
    data = event_file(graph_event(GRAPH), b"never read")[:-1]
    assert found(data)[:2] == [
        ("ok", "TensorFlow events file: 0 traced runs and a graph"),
        (
            "warning",
            f"the record at byte {len(event_file(graph_event(GRAPH)))} is cut off; what comes "
            "after it was left out",
        ),
    ]
