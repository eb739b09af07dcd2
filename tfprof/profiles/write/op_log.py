"""A profile's ops → ``OpLogProto``: types, float operations and call stacks."""

from __future__ import annotations

from tfprof.core.columns.frames import NO_STACK, Frame
from tfprof.core.columns.strings import StringTable
from tfprof.core.wire import messages as pb
from tfprof.graphs.model.op_log_columns import OpLogColumns
from tfprof.profiles.model.profile import Profile


def profile_to_op_log(profile: Profile, unknown: OpLogColumns | None = None) -> pb.OpLogProto:
    """The types, float operations and call stacks of a profile's ops.

    Ops that have neither types, float operations nor a call stack are left out.

    Args:
        profile: The profile.
        unknown: Entries for ops that the profile does not have, to be kept as they are.
    """
    ops = profile.ops
    columns = OpLogColumns(stacks=profile.stacks)
    for row in range(len(ops)):
        types = [ops.strings[type_id] for type_id in ops.added_types.get(row, ())]
        flops = int(ops.float_ops.array[row])
        stack = int(ops.stack_ids.array[row])
        if types or flops or stack != NO_STACK:
            columns.names.append(ops.name(row))
            columns.types.append(types)
            columns.float_ops.append(flops)
            columns.stack_ids.append(stack)
    return columns_to_op_log(columns, *([] if unknown is None else [unknown]))


def columns_to_op_log(*parts: OpLogColumns) -> pb.OpLogProto:
    """Entries as one op log; strings get their ids in order of first use, ``none`` being 0."""
    log = pb.OpLogProto()
    strings = StringTable(["none"])
    for columns in parts:
        encoded: dict[int, bytes] = {}
        for name, flops, types, stack in zip(
            columns.names, columns.float_ops, columns.types, columns.stack_ids, strict=True
        ):
            entry = log.log_entries.add(name=name, float_ops=flops, types=types)
            if stack == NO_STACK:
                continue
            if stack not in encoded:
                stacks = columns.stacks
                frames = (stacks.frames[frame_id] for frame_id in stacks.frame_ids(stack))
                code = pb.CodeDef(traces=[trace_message(frame, strings) for frame in frames])
                encoded[stack] = code.SerializeToString()
            entry.code_def.MergeFromString(encoded[stack])
    for string_id, text in enumerate(strings.values):
        log.id_to_string[string_id] = text
    return log


def trace_message(frame: Frame, strings: StringTable) -> pb.CodeDef.Trace:
    """A line of a call stack, with ids of its strings; those that are new are added."""
    return pb.CodeDef.Trace(
        file_id=strings.intern(frame.file),
        function_id=strings.intern(frame.function),
        line_id=strings.intern(frame.line_text) if frame.line_text else 0,
        lineno=frame.line_number,
        func_start_line=frame.function_start_line,
    )
