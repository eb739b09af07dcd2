"""Checks of event files: do they hold a graph or traced runs?"""

from __future__ import annotations

from collections.abc import Iterator

from tfprof.core.text.wording import plural
from tfprof.doctor.report import Check
from tfprof.doctor.traces import check_graph, check_run
from tfprof.files.events import read_events


def check_events(data: bytes) -> Iterator[Check]:
    """Check the graph and the traced runs in an event file of TensorBoard."""
    log = read_events(data)
    graph = log.meta_graph if log.graph is None else log.graph
    if graph is None and not log.runs:
        yield Check(
            "events",
            "note",
            "TensorFlow events file without a graph or traced runs",
            "FileWriter.add_graph and FileWriter.add_run_metadata write them.",
        )
    else:
        runs = plural(len(log.runs), "traced run")
        graph_words = "without a graph" if graph is None else "and a graph"
        yield Check("events", "ok", f"TensorFlow events file: {runs} {graph_words}")
    if log.damage:
        yield Check(
            "events",
            "warning",
            f"{log.damage}; what comes after it was left out",
            "Close the FileWriter, or wait for the program to end, before copying the file.",
        )
    if graph is not None:
        yield from check_graph(graph)
    for run in log.runs:
        yield from (check for check in check_run(run.data) if check.status != "ok")
