"""Stacks of faulthandler and py-spy become the same columns."""

import faulthandler
import json
import threading

import pytest

from tfprof.captures.run.hang_record import Frame, Thread
from tfprof.core.columns.numerals import LARGEST
from tfprof.remote.hangs.stacks import compared, faulthandler_stacks, py_spy_stacks

pytestmark = pytest.mark.one_engine


def test_a_dump_of_this_process(tmp_path):
    stop = threading.Event()
    waiting = threading.Thread(target=stop.wait, daemon=True)
    waiting.start()
    with (tmp_path / "stacks").open("w+") as stream:
        faulthandler.dump_traceback(stream, all_threads=True)
        stream.seek(0)
        threads = faulthandler_stacks(stream.read())
    stop.set()
    assert [thread.is_main for thread in threads] == [True] + [False] * (len(threads) - 1)
    assert threads[0].frames[0].function == "test_a_dump_of_this_process"
    assert threads[0].frames[0].file == __file__
    # Other tests may have left timers, which wait, too.
    others = [one for one in threads[1:] if any(f.function == "wait" for f in one.frames)]
    assert others
    assert all(one.frames[0].file.endswith("threading.py") for one in others)


def test_lines_outside_of_stacks():
    text = """  File "x.py", line 1 in lost
Current thread 0x01 (most recent call first):
  Garbage-collecting
  <no Python frame>

Thread 0x02 [loader] (most recent call first):
  File "a "b".py", line ??? in <module>
  ...
"""
    main, loader = faulthandler_stacks(text)
    assert main == Thread("loader", (Frame("<module>", 'a "b".py', 0),), is_main=True)
    assert loader == Thread("0x01", ())
    assert faulthandler_stacks("") == ()
    far = text.replace("???", "7" * 5000)
    assert faulthandler_stacks(far)[0].frames[0].line == LARGEST


def spy(name, thread, *frames):
    return {
        "pid": 7, "os_thread_id": thread, "thread_id": 1000 + thread, "thread_name": name,
        "frames": [{"name": f, "filename": "train.py", "line": line} for f, line in frames],
    }  # fmt: skip


def test_what_py_spy_writes():
    text = json.dumps([spy("loader", 8, ("get", 5)), spy(None, 7, ("wait", 9), ("main", 2))])
    main, loader = py_spy_stacks(text)
    assert main.is_main and main.name == "1007"
    assert main.frames == (Frame("wait", "train.py", 9), Frame("main", "train.py", 2))
    assert not loader.is_main and loader.name == "loader"


@pytest.mark.parametrize("text", ["", "null", "[1]", '[{"frames": 3}]', "[" * 100_000])
def test_what_py_spy_never_writes(text):
    with pytest.raises(ValueError):
        py_spy_stacks(text)


def test_threads_that_move():
    still, moves = Thread("a", (Frame("f", "x.py", 1),)), Thread("b", (Frame("g", "x.py", 1),))
    later = Thread("b", (Frame("g", "x.py", 2),))
    found = compared([still, moves], [still, later, Thread("new", ())])
    assert [thread.has_moved for thread in found] == [False, True, None]


def test_a_dump_that_was_read_too_early():
    inner, outer = Frame("f", "x.py", 1), Frame("main", "x.py", 9)
    whole, part = Thread("a", (inner, outer)), Thread("a", (inner,))
    for looks in ([whole], [part]), ([part], [whole]):
        (found,) = compared(*looks)
        assert not found.has_moved and found.frames == whole.frames
