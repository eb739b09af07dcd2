"""Distances between points and centers, by hand."""

from tests.graphs.calls import call, cost, floats, scalar
from tfprof.graphs.shapes.infer import SHAPES


def test_nearest_neighbors():
    op = call("NearestNeighbors", floats(100, 8), floats(10, 8), scalar(4))
    made = cost(SHAPES, op)
    # a dot product for each pair; two additions and a heap of 4
    assert (made.macs, made.other) == (100 * 10 * 8, 1000 * (2 + 2))


def test_first_centers():
    inputs = (floats(100, 8), scalar(3), scalar(0), scalar(1))
    made = cost(SHAPES, call("KmeansPlusPlusInitialization", *inputs))
    # for each of 3 centers: distances, and for each point a difference, a minimum, a sum
    assert (made.macs, made.other) == (3 * 800, 3 * 300)
    op = call("KMC2ChainInitialization", floats(100), scalar(1))
    assert cost(SHAPES, op).flops == 300
