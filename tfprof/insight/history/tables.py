"""The tables of a history's file, and the meaning of their columns."""

from __future__ import annotations

from typing import Final

from tfprof.core.columns.described import Described

VERSION: Final = 1
"""Increases when a table or column is renamed or changes its meaning."""

TABLES: Final[dict[str, tuple[str, tuple[Described, ...]]]] = {
    "runs": ("one row for each run", (
        Described("run", "string", "", "digest of its files"),
        Described("name", "string", "", "its name in its log folder"),
        Described("program", "string", "", "what it ran: folder, steps, functions"),
        Described("began_ns", "int64", "ns", "its start, or when it was added, since 1970; null if "
                  "unknown", "host"),
        Described("machine", "string", "", "names of its machines"),
        Described("hardware", "string", "", "number and type of its devices"),
        Described("framework", "string", "", "TensorFlow or JAX"),
        Described("commit", "string", "", "commit of the program; empty if unknown"),
    )),
    "figures": ("one row for each key figure of each run", (
        Described("run", "string", "", "the run"),
        Described("metric", "string", "", "its name in budgets"),
        Described("unit", "string", "", "unit of the numbers"),
        Described("value", "float64", "", "the number, or the mean of the steps; null if unknown"),
        Described("low", "float64", "", "lower bound of the mean; null for exact numbers"),
        Described("high", "float64", "", "its upper bound"),
        Described("steps", "int64", "", "number of steps; 0 for numbers of the whole run"),
        Described("at_least", "bool", "", "whether the true value may be larger"),
        Described("remark", "string", "", "a fact about the value"),
        Described("unknown", "string", "", "why there is no value; empty if there is one"),
    )),
    "versions": ("one row for each software of each run", (
        Described("run", "string", "", "the run"),
        Described("software", "string", "", "its name"),
        Described("version", "string", "", "its version"),
    )),
    "labels": ("one row for each label of each run", (
        Described("run", "string", "", "the run"),
        Described("label", "string", "", "its name"),
        Described("value", "string", "", "its value"),
    )),
    "sources": ("one row for each place that was read, also where that failed", (
        Described("source", "string", "", "the place"),
        Described("state", "string", "", "sizes and times of its files"),
        Described("run", "string", "", "the run; empty if it could not be read"),
        Described("trouble", "string", "", "why it could not be read; empty if it could"),
    )),
}  # fmt: skip
"""The tables: meaning of a row, and columns."""
