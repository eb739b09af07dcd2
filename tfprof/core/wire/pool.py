"""The private descriptor pool that holds tfprof's message types.

TensorFlow registers the same full names in protobuf's default pool. Ours live in a pool of
their own, so both can be loaded in one process in any order and any version.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from tfprof.core.wire.walk import walk

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor, FieldDescriptor
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.message import Message

# Reentrant: looking up a class loads the pool. Two threads must not end up with two pools,
# whose equally named classes would refuse each other's messages.
_lock = threading.RLock()


STRING, MESSAGE, BYTES = 9, 11, 12  # FieldDescriptor.TYPE_*
_LABEL_REPEATED = 3


class _State:
    """The loaded pool and its top-level types by simple name; filled once."""

    pool: DescriptorPool | None = None
    messages: dict[str, Descriptor] = {}  # noqa: RUF012 - replaced as a whole, never shared
    enums: dict[str, Any] = {}  # noqa: RUF012


def private_pool() -> DescriptorPool:
    """The pool with all of tfprof's message types; loaded at the first call (about 2 ms)."""
    if _State.pool is None:
        with _lock:
            if _State.pool is None:
                _load()
    assert _State.pool is not None
    return _State.pool


def _load() -> None:
    # Imported here, to keep the import of tfprof fast.
    from pathlib import Path

    from google.protobuf.descriptor_pool import DescriptorPool

    pool = DescriptorPool()
    data = Path(__file__).with_name("descriptors.binpb").read_bytes()
    messages: dict[str, Descriptor] = {}
    enums: dict[str, Any] = {}
    # A FileDescriptorSet is its files one after the other, dependencies first. Splitting it
    # here spares the import of descriptor_pb2.
    for field in walk(memoryview(data)):
        serialized = data[field.offset : field.offset + field.value]
        pool.AddSerializedFile(serialized)
        name = next(iter(walk(memoryview(serialized))))  # FileDescriptorProto.name is first
        file = pool.FindFileByName(serialized[name.offset : name.offset + name.value].decode())
        messages.update(file.message_types_by_name)
        enums.update(file.enum_types_by_name)
    _State.messages, _State.enums, _State.pool = messages, enums, pool


def message_names() -> list[str]:
    """Simple names of all top-level messages, sorted."""
    private_pool()
    return sorted(_State.messages)


def message_class(full_name: str) -> type[Message]:
    """The class of a message, nested ones included, by full name.

    Raises:
        KeyError: tfprof has no message of this name.
    """
    return _class_of(private_pool().FindMessageTypeByName(full_name))


def _class_of(descriptor: Descriptor) -> type[Message]:
    from google.protobuf.message_factory import GetMessageClass

    with _lock:
        made = GetMessageClass(descriptor)
        # The pure-Python runtime does not make nested classes reachable by itself.
        for nested in descriptor.nested_types:
            if not hasattr(made, nested.name):
                setattr(made, nested.name, GetMessageClass(nested))
        return made


def is_repeated(field: FieldDescriptor) -> bool:
    """Whether a field is repeated or a map; protobuf 4 only has the label, 7 warns of it."""
    answer = getattr(field, "is_repeated", None)
    return getattr(field, "label", 0) == _LABEL_REPEATED if answer is None else bool(answer)


def top_level(name: str) -> Any:
    """The message class or enum wrapper of a simple name such as ``GraphDef``.

    Raises:
        AttributeError: There is none.
    """
    private_pool()
    if name in _State.messages:
        return _class_of(_State.messages[name])
    if name in _State.enums:
        from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

        return EnumTypeWrapper(_State.enums[name])
    raise AttributeError(f"tfprof has no message called {name!r}")
