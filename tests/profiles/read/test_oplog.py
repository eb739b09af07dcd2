from google.protobuf import text_format

from tfprof.core.columns.frames import EMPTY_STACK, NO_STACK
from tfprof.core.wire import messages as pb
from tfprof.profiles.read.oplog import read_op_log
from tfprof.testing.builders import logged, op_log, traced


def labels(columns, entry):
    stacks = columns.stacks
    frames = stacks.frame_ids(columns.stack_ids[entry])
    return [stacks.frames[frame].label for frame in frames]


def test_entries():
    columns = read_op_log(
        op_log(
            traced("a", "train.py:3:main", "net.py:7:dense", float_ops=6, types=["t", "u"]),
            logged("b", float_ops=0),
            traced("c"),
        )
    )
    assert columns.names == ["a", "b", "c"]
    assert columns.float_ops == [6, 0, 0]
    assert columns.types == [("t", "u"), (), ()]
    assert labels(columns, 0) == ["train.py:3:main", "net.py:7:dense"]
    assert columns.stack_ids[1:] == [NO_STACK, EMPTY_STACK]
    assert columns.unknown_strings == 0


def test_equal_stacks_are_held_once():
    columns = read_op_log(op_log(traced("a", "f.py:1:g"), traced("b", "f.py:1:g")))
    assert columns.stack_ids[0] == columns.stack_ids[1]
    assert len(columns.stacks.rows) == 2


def test_unknown_strings_are_counted_and_shown_by_number():
    log = op_log(traced("a", "f.py:1:g"), traced("b", "f.py:2:g"))
    log.id_to_string.clear()
    log.id_to_string[2] = "g"
    columns = read_op_log(log)
    assert labels(columns, 0) == ["unknown#1:1:g"]
    assert columns.unknown_strings == 1


def test_all_parts_of_a_frame():
    log = pb.OpLogProto(id_to_string={1: "/a/f.py", 2: "main", 3: "  x = f()"})
    log.log_entries.add(name="a").code_def.traces.add(
        file_id=1, lineno=4, function_id=2, line_id=3, func_start_line=2
    )
    columns = read_op_log(log)
    assert columns.stacks.frames[0] == ("/a/f.py", "main", 4, "  x = f()", 2)


def test_text_form():
    log = op_log(traced("a", "f.py:1:g"))
    columns = read_op_log(text_format.MessageToString(log).encode())
    assert labels(columns, 0) == ["f.py:1:g"]
