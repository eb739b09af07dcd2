import io

import pytest
from rich.console import Console

import tfprof
from tfprof.core.text.characters import ASCII, UNICODE
from tfprof.profiles.accounting.profile_info import profile_info
from tfprof.profiles.show.info import InfoText, info_head, step_rows
from tfprof.testing.builders import (
    CPU,
    GPU,
    GPU_STREAMS,
    graph,
    logged,
    op,
    op_log,
    run,
    run_on,
    stat,
)


def shown(profiler, width=100, glyphs=UNICODE):
    profiler._session.complete()
    console = Console(file=io.StringIO(), width=width, markup=False, highlight=False)
    console.print(InfoText(profile_info(profiler._session.profile), glyphs))
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())


def a_graph():
    return graph(op("w", "VariableV2", shape=[2, 3], outputs=[[2, 3]]), op("mm", "Identity", "w"))


def test_a_run_on_two_devices():
    profiler = tfprof.Profiler(a_graph(), op_log(logged("w", types=["_trainable_variables"])))
    for step in (3, 4):
        blocks = {
            CPU: {"w": stat(2, start=100, memory=(800, 8, 8))},
            GPU: {"mm": stat(10, start=102, memory=(6400, 32, 16))},
            GPU_STREAMS: {"mm:MatMul": stat(40 * step, start=105)},
        }
        profiler.add_step(step, run_on(blocks))
    assert (
        shown(profiler)
        == """\
ops            2, all of a graph
ran            2 of 2 (100.0 %) in 2 steps, 3 to 4
op types       2: Identity 1, VariableV2 1
call stacks    of no op
output shapes  1 of 2 (50.0 %)
float ops      none known
added types    _trainable_variables 1
variables      1 with 6 elements; 1 trainable with 6

device            ops  executions    time  counts as     memory  peak mem
─────────────────────────────────────────────────────────────────────────
GPU:0 stream:all    1           2  280 µs  accelerator     –            –
CPU:0               1           2    4 µs  cpu          1.60 kB       n/a
GPU:0               1           2   20 µs  cpu          12.8 kB       n/a

step  ops  executions    wall  op time  accelerator    cpu   memory  peak mem
─────────────────────────────────────────────────────────────────────────────
   3    2           3  125 µs   132 µs       120 µs  12 µs  7.20 kB       n/a
   4    2           3  165 µs   172 µs       160 µs  12 µs  7.20 kB       n/a
─────────────────────────────────────────────────────────────────────────────
mean    2           3  145 µs   152 µs       140 µs  12 µs  7.20 kB       n/a

wall: from the first start to the last end; op time: the sum over all ops, which may run at the same
time. memory: all that ops requested; peak mem: the largest memory in use of one allocator
n/a (peak mem): no execution recorded the memory in use of its allocator"""
    )


def test_a_graph_alone():
    text = shown(tfprof.Profiler(a_graph()))
    assert "\nran            n/a: no step was recorded\n" in text
    assert "device" not in text
    assert "step  " not in text


def test_a_run_alone():
    profiler = tfprof.Profiler()
    profiler.add_step(0, run({"mm": 5}))
    text = shown(profiler)
    assert "1, named by runs alone: there is no graph\n" in text
    assert "variables      n/a: there is no graph, only runs\n" in text
    assert "– (accelerator): no accelerator took part" in text
    assert "n/a (memory): " in text


def test_many_steps_are_shown_from_both_ends():
    profiler = tfprof.Profiler(a_graph())
    for step in range(100):
        profiler.add_step(step, run({"mm": stat(step + 1)}))
    lines = shown(profiler).splitlines()
    table = [line.split()[0] for line in lines if line[:4].strip().isdecimal()]
    assert table == [str(step) for step in (*range(20), *range(80, 100))]
    assert sum(line.strip() == "…" for line in lines) == 1
    mean = next(line for line in lines if line.startswith("mean"))
    assert mean.split()[3:5] == ["50", "µs"]  # 1 to 100 µs; half to even


def test_devices_with_the_same_label_keep_their_names():
    profiler = tfprof.Profiler(a_graph())
    names = [CPU, CPU.replace("replica:0", "replica:1")]
    profiler.add_step(0, run_on({names[0]: {"mm": 5}, names[1]: {"w": 5}}))
    text = shown(profiler, 120)
    assert all(name.lower() in text for name in names)


def test_notices_are_at_the_end():
    profiler = tfprof.Profiler(a_graph())
    profiler.add_step(0, run({"mm": stat(-5), "w": stat(-7)}))
    text = shown(profiler)
    assert text.endswith(
        "\n\nnote: node stats end before they start (clock skew); their time counts as 0 (2 times)"
    )


def test_hostile_names_are_shown():
    log = op_log(logged("mm", types=["\x1b[31mred"]))
    profiler = tfprof.Profiler(graph(op("mm", "[bold]\u202eT")), log)
    profiler.add_step(0, run_on({"/x\x07:y": {"mm": 5}}))
    text = shown(profiler)
    assert r"1: [bold]\u202eT 1" in text
    assert r"\x1b[31mred 1" in text
    assert r"/x\x07:y" in text


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_it_fits_every_width(width):
    files = tfprof.demo_files()
    profiler = tfprof.Profiler(files.graph, files.op_log)
    profiler.add_step(0, files.run_meta)
    assert max(map(len, shown(profiler, width).splitlines())) <= width
    assert shown(profiler, width, ASCII).isascii()


def test_plain_data():
    profiler = tfprof.Profiler(a_graph())
    profiler.add_step(0, run({"mm": 5}))
    info = profile_info(profiler._session.profile)
    (row,) = step_rows(info.steps)
    assert (row["step"], row["op_micros"], row["accelerator_micros"]) == (0, 5, None)
    assert [*info_head(info)] == ["ops", "devices", "missing", "notices"]
