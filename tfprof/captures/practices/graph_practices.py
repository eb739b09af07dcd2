"""Practices for captures of command buffers and CUDA graphs."""

from __future__ import annotations

from collections.abc import Iterator

from tfprof.captures.facts.statistics import part
from tfprof.captures.practices.evidence import Evidence
from tfprof.captures.run.result import Advice
from tfprof.core.text import how_to_capture
from tfprof.core.text.claims import Details


def unknown_ops(evidence: Evidence) -> Iterator[Advice]:
    """Kernels in graphs whose op is unknown."""
    times = evidence.graph_times
    total = sum(one.total_ps for one in times)
    whole, lost = (sum(ps) for ps in zip(*((t.whole_ps, t.lost_ps) for t in times), strict=True))
    if not whole + lost:
        return
    share = part(whole + lost, total)
    words = (
        "{unknown_share} of the time of kernels is in CUDA graphs (command buffers), without an op "
        "of their own."
    )
    numbers: Details = {"unknown_share": share}
    if whole:
        words += f" {{whole_ms}} are records of whole graphs: {how_to_capture.GRAPH_KERNELS}."
        numbers |= {"whole_ms": whole / 1e9}
    if lost:
        words += (
            " {lost_ms} are kernels without an annotation of their own, as in graphs older than "
            "the capture, and "
        )
        numbers |= {"lost_ms": lost / 1e9}
        if all(one.has_programs for one in times if one.lost_ps):
            words += "neither their names nor their order tell their instruction"
        else:
            words += "the capture lacks their compiled programs (option enable_hlo_proto)"
        words += f": {how_to_capture.WITHOUT_GRAPHS}."
    yield Advice("command-buffers/unknown-ops", words, numbers, share=share)
