"""The states of a session: what each question brings up to date, and what it leaves."""

import threading

import tfprof
from tests.graphs.interpreter.programs import FLOAT, Type, graph, node, placeholder
from tfprof.options.parse import parse_options
from tfprof.profiles.accounting.accounting import METRIC_ROW
from tfprof.profiles.model.profile import Profile
from tfprof.testing.builders import logged, op_log, run, traced
from tfprof.views.session import Session

RELU = [placeholder("x", 4, 4), node("r", "Relu", "x", T=Type(FLOAT))]
OPTIONS = parse_options(tfprof.ProfileOptionBuilder().with_empty_output().build())


class LiveGraph:
    """A graph that grows, as TensorFlow's does."""

    def __init__(self, *nodes):
        self.nodes = list(nodes)

    @property
    def version(self):
        return len(self.nodes)

    def as_graph_def(self, from_version=None, add_shapes=False):
        return graph(*self.nodes[from_version or 0 :])

    def get_operations(self):
        return []

    def get_collection(self, name):
        return []


def float_ops(session):
    return session.profile.ops.float_ops.array.tolist()


def test_float_operations_are_in_the_table_after_a_question_that_needs_them():
    session = Session(Profile(), graph(*RELU))
    session.view("op", OPTIONS)
    assert float_ops(session) == [0, 0]
    session.view("op", OPTIONS, all_metrics=True)
    assert float_ops(session) == [0, 16]
    session.add_run(0, run({"r": 1, "late": 1}))
    assert float_ops(session) == [0, 16, 0]


def test_a_complete_profile_has_call_stacks_and_float_operations():
    log = op_log(traced("r", "net.py:1:main"), logged("x", float_ops=5))
    session = Session(Profile(), graph(*RELU), log)
    profile = session.complete()
    assert profile is session.profile
    assert profile.has_traces
    assert float_ops(session) == [5, 16]


def test_classic_profiles_keep_what_they_hold():
    session = Session(Profile(classic=True), graph(*RELU), op_log(logged("r", float_ops=3)))
    session.complete()
    assert float_ops(session) == [0, 3]


def test_a_view_counts_before_the_graph_that_it_shows_grows():
    live = LiveGraph(*RELU)
    session = Session(Profile(), live)
    before = session.view("scope", OPTIONS)
    live.nodes.append(node("s", "Relu", "x", T=Type(FLOAT)))
    after = session.view("scope", OPTIONS)
    assert len(after) == len(before) + 1
    assert (before.total_float_ops, after.total_float_ops) == (16, 32)
    assert [len(tree.op_metrics[METRIC_ROW["float_ops"]]) for tree in (before, after)] == [2, 3]


def test_views_of_many_threads_have_the_same_numbers():
    session = Session(Profile(), graph(*RELU))
    tree = session.view("scope", OPTIONS)
    totals = []
    threads = [
        threading.Thread(target=lambda: totals.append(tree.total_float_ops)) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert totals == [16] * 8
