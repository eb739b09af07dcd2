"""Messages against those of TensorFlow, field by field."""

from tfprof.core.wire.pool import is_repeated


def oneof_name(field):
    name = field.containing_oneof and field.containing_oneof.name
    # How proto3 spells `optional`; GraphDebugInfo is proto2 in TensorFlow.
    return None if name == f"_{field.name}" else name


def facts(field):
    return {
        "name": field.name,
        "number": field.number,
        "type": field.type,
        "repeated": is_repeated(field),
        # Both halves of a map entry are always there, whatever the syntax.
        "presence": field.containing_type.GetOptions().map_entry or field.has_presence,
        "packed": field.is_packed,
        "message": field.message_type and field.message_type.full_name,
        "enum": field.enum_type and field.enum_type.full_name,
        "oneof": oneof_name(field),
        "default": field.default_value if not is_repeated(field) else None,
    }


def compare_messages(ours, theirs):
    assert ours.full_name == theirs.full_name
    assert ours.GetOptions().map_entry == theirs.GetOptions().map_entry
    for field in ours.fields:
        assert facts(field) == facts(theirs.fields_by_number[field.number])
    missing = {f.number for f in theirs.fields} - {f.number for f in ours.fields}
    reserved = messages_reserved(ours)
    assert missing <= reserved, f"{ours.full_name} neither has nor reserves {missing - reserved}"
    for nested in ours.nested_types:
        compare_messages(nested, theirs.nested_types_by_name[nested.name])
    for enum in ours.enum_types:
        compare_enums(enum, theirs.enum_types_by_name[enum.name])


def compare_enums(ours, theirs):
    assert ours.full_name == theirs.full_name
    assert {v.name: v.number for v in ours.values} == {v.name: v.number for v in theirs.values}


def messages_reserved(descriptor):
    from google.protobuf.descriptor_pb2 import DescriptorProto

    proto = DescriptorProto()
    descriptor.CopyToProto(proto)
    return {n for span in proto.reserved_range for n in range(span.start, span.end)}
