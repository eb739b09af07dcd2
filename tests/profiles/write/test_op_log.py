from __future__ import annotations

from tfprof.core.columns.frames import NO_STACK, Frame
from tfprof.graphs.model.op_log_columns import OpLogColumns
from tfprof.profiles.write.op_log import columns_to_op_log


def test_entries_share_the_texts_of_their_call_stacks() -> None:
    columns = OpLogColumns(["a", "b", "v"], [7, 0, 0], [(), (), ("mine",)])
    stack = columns.stacks.intern([Frame("program.py", "main", 3, "f(x)")])
    columns.stack_ids += [stack, stack, NO_STACK]
    log = columns_to_op_log(columns)
    assert [(e.name, e.float_ops, list(e.types)) for e in log.log_entries] == [
        ("a", 7, []),
        ("b", 0, []),
        ("v", 0, ["mine"]),
    ]
    (trace,) = log.log_entries[1].code_def.traces
    assert log.id_to_string[trace.file_id] == "program.py"
    assert (trace.lineno, log.id_to_string[trace.line_id]) == (3, "f(x)")
    assert sorted(log.id_to_string.values()) == ["f(x)", "main", "none", "program.py"]
    assert not log.log_entries[2].HasField("code_def")
