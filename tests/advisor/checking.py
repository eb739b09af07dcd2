"""Shared functions of the tests of checkers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import tfprof
from tfprof.advisor.context import CheckContext
from tfprof.core.columns.findings import Finding
from tfprof.core.text.wording import memory_text, share_text, time_text
from tfprof.core.wire import messages as pb
from tfprof.testing.builders import graph

FLOAT32, FLOAT16, INT32 = 1, 19, 3

_NAMES = re.compile(r"'[^']*'|[\w:/]*[CG]PU:\d+|\b(?:16|32)[- ]bits?\b")
_NUMBER = re.compile(r"<?(?<![\w.])\d[\d.]*(?<!\.)(?: (?:%|µs|ms|s|[kMGTP]?B)(?!\w))?")


def context(
    nodes: Sequence[pb.NodeDef],
    *runs: pb.RunMetadata,
    op_log: pb.OpLogProto | None = None,
    show_library_frames: bool = False,
) -> CheckContext:
    """The context of a profile with some nodes, and one step for each run."""
    profiler = tfprof.Profiler(graph(*nodes), op_log, classic=False)
    for step, run_meta in enumerate(runs):
        profiler.add_step(step, run_meta)
    return CheckContext(
        profiler._session.profile, profiler._session.views, show_library_frames=show_library_frames
    )


def found(checker: Callable[[CheckContext], Sequence[Finding]], *args: Any, **more: Any) -> Any:
    """The findings of a checker in ``context(…)``; each one explains its numbers."""
    findings = list(checker(context(*args, **more)))
    for finding in findings:
        assert_explained(finding)
    return findings


def the_finding(*args: Any, **more: Any) -> Finding:
    """The only finding."""
    (finding,) = found(*args, **more)
    assert isinstance(finding, Finding)
    return finding


def assert_explained(finding: Finding) -> None:
    """Check that every number of the message is in the evidence."""
    forms = {"micros": time_text, "bytes": memory_text, "share": share_text, "count": round}
    known = set()
    for name, value in finding.evidence.items():
        known.add(str(forms[name.rpartition("_")[2]](value)))  # type: ignore[operator]
    for number in _NUMBER.findall(_NAMES.sub("", finding.message)):
        assert number in known, f"{number} of {finding.message!r} is not in {finding.evidence}"
    assert finding.link.startswith("https://www.tensorflow.org/") or not finding.evidence
    if finding.gain is not None:
        assert finding.gain.amount >= 0


def typed(node: pb.NodeDef, element_type: int) -> pb.NodeDef:
    """The node with its attribute ``T``."""
    node.attr["T"].type = element_type
    return node
