import tfprof
from tests.ui.pages.packed import unpacked
from tfprof.inputs.opened import opened_profiler
from tfprof.testing.builders import CPU, GPU, graph, op, op_log, run_on, stat, traced
from tfprof.ui.pages.memory_over_time import memory_over_time_page

CHAIN = [op("a"), op("b", "X", "a"), op("c", "X", "b"), op("d", "X", "c")]


def made(start, size):
    return stat(10, start=start, outputs=(size,))


def page_of(blocks, log=None, **params):
    profiler = tfprof.Profiler(graph(*CHAIN), log)
    profiler.add_step(0, run_on(blocks))
    return memory_over_time_page(opened_profiler(profiler), params)


def live(page):
    return next(block for block in page.blocks if block["kind"] == "live-memory")


def test_the_line_is_the_sum_of_what_is_alive_at_every_moment():
    chain = {"a": made(100, 30), "b": made(110, 50), "c": made(120, 60), "d": made(130, 10)}
    block = live(page_of({CPU: chain}))
    times, sums = unpacked(block["times"]), unpacked(block["bytes"])
    buffers = list(zip(*(unpacked(block[name]) for name in ("born", "dies", "sizes")), strict=True))
    assert (times[0], sums[-1]) == (0, 0)
    for time, total in zip(times, sums, strict=True):
        assert total == sum(size for born, dies, size in buffers if born <= time < dies)
    assert max(sums) == 110 == sums[times.index(block["peak"])]
    assert unpacked(block["ops"]) == ["a", "b", "c", "d"]


def test_the_page_begins_with_the_peak_then_the_picture():
    chain = {"a": made(100, 30), "b": made(110, 50), "c": made(120, 60), "d": made(130, 10)}
    blocks = page_of({CPU: chain}).blocks
    assert [block["kind"] for block in blocks[:2]] == ["words", "live-memory"]
    assert blocks[0]["items"] == [
        "At its peak cpu:0 holds 110 B of outputs; the largest is 60 B of c."
    ]


def test_the_line_of_code_stands_by_each_buffer():
    log = op_log(traced("a", "/x/train.py:3:main", "/y/site-packages/keras/layer.py:9:call"))
    assert unpacked(live(page_of({CPU: {"a": made(100, 30)}}, log))["lines"]) == ["train.py:3:main"]


def test_the_device_with_the_highest_peak_is_first():
    blocks = {CPU: {"a": made(100, 30)}, GPU: {"b": made(110, 50)}}
    page = page_of(blocks)
    assert "gpu:0" in live(page)["title"]
    device = page.controls[0]
    assert [label for _, label in device.choices] == ["gpu:0", "cpu:0"]
    assert "cpu:0" in live(page_of(blocks, device=device.choices[1][0]))["title"]
    message = page_of(blocks, device="tpu").blocks[0]["items"][0]["text"]
    assert "no device 'tpu'" in message


def test_without_outputs_the_page_says_what_is_missing():
    page = page_of({CPU: {"a": stat(10)}})
    assert "memory of its outputs" in page.blocks[0]["text"]
