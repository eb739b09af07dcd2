"""Names that are markup and script, through every page in a real browser."""

import gzip
import lzma

import pytest

import tfprof
from tfprof import tools
from tfprof.core.wire import messages as pb
from tfprof.demo import DEMO_CAPTURES, demo_capture
from tfprof.inputs.opened import opened_profiler, opened_run
from tfprof.testing.builders import graph, op, op_log, stat, traced
from tfprof.testing.builders import run as run_metadata
from tfprof.ui.pages.site import Site
from tfprof.ui.web.report import report

pytestmark = [pytest.mark.browser, pytest.mark.one_engine]

EVIL = "</script></title><img src=x onerror=alert(1)><script>alert(2)</script>\"'`${alert(3)}"
RENAMED = (
    "encoder", "sgemm", "Prefetch", "Range", "GPU_0_bfc", "bfc_cpu_allocator", "worker0",
    "synthetic-gpus", "fusion", "conv", "MatMul", "train_step", "dense", "py_func",
)  # fmt: skip
"""Parts of names that get markup behind them, wherever they stand."""
TYPES = ("Dataset", "fusion", "MatMul", "Conv2D")
"""Texts that are words of a format, and not names."""


def evil(text):
    """A name with markup in it; types stay what they are."""
    if text in TYPES or text.startswith("/"):
        return text
    for part in RENAMED:
        if part in text:
            return text.replace(part, part + EVIL, 1)
    return text


def evil_capture(name):
    """A capture of tfprof in which every name that can have it has markup."""
    path = demo_capture(name)
    content = {".gz": gzip, ".xz": lzma}[path.suffix].decompress(path.read_bytes())
    space = pb.XSpace.FromString(content)
    space.hostnames[:] = [evil(each) for each in space.hostnames]
    for plane in space.planes:
        for data in plane.event_metadata.values():
            data.name, data.display_name = evil(data.name), evil(data.display_name)
            evil_stats(data.stats)
        for data in plane.stat_metadata.values():
            # Texts that stats refer to are among the names of stats.
            data.name = evil(data.name)
        for each in plane.lines:
            for happened in each.events:
                evil_stats(happened.stats)
    return space


def evil_stats(stats):
    for each in stats:
        kind = each.WhichOneof("value")
        if kind == "str_value":
            each.str_value = evil(each.str_value)
        elif kind == "bytes_value":
            program = pb.HloProto.FromString(each.bytes_value)
            for computation in program.hlo_module.computations:
                for instruction in computation.instructions:
                    instruction.name = evil(instruction.name)
                    instruction.metadata.op_name = evil(instruction.metadata.op_name)
            each.bytes_value = program.SerializeToString()


def evil_profile():
    names = [f"{EVIL}scope/{EVIL}{at}" for at in range(4)]
    nodes = [op(name, f"{EVIL}Type", *names[:at]) for at, name in enumerate(names)]
    lines = f"{EVIL}.py:3:{EVIL}main", f"net{EVIL}.py:7:{EVIL}layer"
    log = op_log(*(traced(name, *lines, float_ops=8, types=[EVIL]) for name in names))
    profiler = tfprof.Profiler(graph(*nodes, op("w", "VariableV2", shape=[2, 3])), log)
    ran = {
        name: stat(100 + at, start=1000 + 200 * at, label=f"{name} = {EVIL}({EVIL})",
                   memory=(64, 32, 16), outputs=[64])
        for at, name in enumerate(names)
    }  # fmt: skip
    profiler.add_step(0, run_metadata(ran))
    return profiler


def opened(name):
    if name == "profile":
        return opened_profiler(evil_profile(), EVIL)
    return opened_run(tools.open_run(evil_capture(name)), EVIL)


@pytest.mark.parametrize("name", ["profile", *DEMO_CAPTURES])
def test_names_that_are_markup_and_script_are_shown_as_text(name, watched, report_file):
    site = Site([opened(name)])
    page = watched()
    page.tab.on("dialog", lambda dialog: page.troubles.append(f"a dialog: {dialog.message}"))
    page.open(report_file(report(site)))
    shown = []
    for entry in site.to_dict()["pages"]:
        if entry["missing"]:
            continue
        page.go(entry["id"])
        # What stands where one points is made of names, too.
        for target in page.tab.locator("main .mark, main .box, main canvas").all()[:2]:
            if target.is_visible():
                target.hover(force=True)
        assert page.tab.locator("img, main script, main style").count() == 0, entry
        if "<img src=x" in page.tab.locator("main").inner_text():
            shown.append(entry["id"])
    page.check()
    # Nothing was shown as text would mean that nothing was tried.
    assert len(shown) >= 6, shown
