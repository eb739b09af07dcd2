"""Distances between points and centers: k-means and nearest neighbors."""

from __future__ import annotations

from tfprof.graphs.flops.formulas import (
    Cost,
    Counted,
    bits_of,
    enter_counts,
    formula,
    multiply_adds,
)
from tfprof.graphs.model.op_call import OpCall


@formula(
    "KmeansPlusPlusInitialization",
    rule="k·(2·n·d + 3·n)",
    source="Arthur & Vassilvitskii, k-means++, 2007",
)
def _kmeans(op: OpCall) -> Cost:
    """For each of k centers the distances of n points (d multiply-adds), minima, running sums."""
    n, d = op.shape_of_rank(0, 2)
    (k,) = op.numbers(1)
    return multiply_adds(k * n * d, 3 * k * n, n=n, d=d, k=k)


@formula("NearestNeighbors", rule="2·n·c·d + n·c·(2 + ⌈log₂ k⌉)")
def _nearest(op: OpCall) -> Cost:
    """‖x‖² - 2·x·y + ‖y‖² for n points and c centers, and a heap of the k nearest."""
    (n, d), c = op.shape_of_rank(0, 2), op.shape_of_rank(1, 2)[0]
    (k,) = op.known_ints(2)
    bits = bits_of(k, "the number of neighbors")
    return multiply_adds(n * c * d, n * c * (2 + bits), n=n, c=c, d=d, k=k)


enter_counts(
    Counted("KMC2ChainInitialization", 3, source="Bachem et al., k-MC², 2016, algorithm 1",
            why="For each of n candidates a uniform number, a product and a comparison."),
)  # fmt: skip
