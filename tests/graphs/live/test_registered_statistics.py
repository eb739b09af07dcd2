from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tfprof

pytestmark = pytest.mark.tensorflow


@pytest.fixture
def tf() -> Any:
    """Imported only where a test runs: looking for tests takes no TensorFlow."""
    return pytest.importorskip("tensorflow")


@pytest.fixture
def registered(tf: Any) -> Iterator[None]:
    """A formula for ``Rint``, as a user registers one with TensorFlow."""
    from tensorflow.python.framework import graph_util, ops

    @ops.RegisterStatistics("Rint", "flops")
    def _rint(graph: Any, node: Any) -> Any:
        shape = graph_util.tensor_shape_from_node_def_name(graph, node.input[0])
        shape.assert_is_fully_defined()
        return ops.OpStats("flops", 1000 * shape.num_elements())

    yield
    del ops._stats_registry._registry["Rint,flops"]


@pytest.fixture
def rounded(tf: Any) -> Callable[[Any], Any]:
    return tf.function(lambda x: tf.math.rint(x, name="mine"))


@pytest.fixture
def graph(tf: Any, rounded: Any) -> Any:
    made = tf.Graph()
    with made.as_default():
        tf.math.rint(tf.ones([2]), name="mine")
        rounded(tf.ones([3]))
    return made


@pytest.mark.usefixtures("registered")
def test_the_users_formula_wins_in_views(graph: Any) -> None:
    view = tfprof.Profiler(graph).view("scope")
    flops = dict(zip(view.names, view.columns["float_ops"].tolist(), strict=True))
    assert flops["mine"] == 2000
    assert flops["PartitionedCall"] == 3000


@pytest.mark.usefixtures("registered")
def test_the_users_formula_wins_in_reports_and_in_functions(graph: Any, rounded: Any) -> None:
    report = tfprof.flops(graph)
    assert report.flops == 5000
    assert "registered with TensorFlow" in report.explain()
    assert tfprof.flops(rounded, input_shapes=[4]).flops == 4000
    assert tfprof.flops(rounded, input_shapes=[4]).coverage == 1


@pytest.mark.usefixtures("registered")
def test_without_its_shapes_tfprofs_own_formula_counts(rounded: Any) -> None:
    assert str(tfprof.flops(rounded, input_shapes=[None]).flops) == "B"


def test_without_it_nothing_changes(graph: Any) -> None:
    assert tfprof.flops(graph).flops == 2 + 3
