"""Compile ``protos/tfprof/*.proto`` to the descriptor set and typing stubs that tfprof ships.

    python protos/generate.py            write both files
    python protos/generate.py --check    compare only; exit 1 when a file is stale

Needs grpcio-tools (in the ``dev`` extra); users of tfprof never run this.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorSet,
)

PROTOS = Path(__file__).resolve().parent
WIRE = PROTOS.parent / "tfprof" / "core" / "wire"
DESCRIPTORS = WIRE / "descriptors.binpb"
STUBS = WIRE / "messages.pyi"

HEADER = '''\
"""Message classes of tfprof. Written by protos/generate.py; do not edit."""

import builtins
import collections.abc
import typing

from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.internal.containers import (
    MessageMap,
    RepeatedCompositeFieldContainer,
    RepeatedScalarFieldContainer,
    ScalarMap,
)
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper
from google.protobuf.message import Message

from tfprof.core.wire.parsing import parse as parse

def message_class(full_name: builtins.str) -> builtins.type[Message]: ...
def message_names() -> builtins.list[builtins.str]: ...
def private_pool() -> DescriptorPool: ...
'''

FLOATS = {FieldDescriptorProto.TYPE_DOUBLE, FieldDescriptorProto.TYPE_FLOAT}
SCALARS = {
    FieldDescriptorProto.TYPE_BOOL: "builtins.bool",
    FieldDescriptorProto.TYPE_STRING: "builtins.str",
    FieldDescriptorProto.TYPE_BYTES: "builtins.bytes",
}


def compile_protos() -> FileDescriptorSet:
    """All sources as one set: dependencies first, no source positions, fixed order."""
    names = sorted(str(path.relative_to(PROTOS)) for path in PROTOS.glob("tfprof/*.proto"))
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "set.binpb"
        # A process of its own: the compiler's native code does not share one with TensorFlow's.
        protoc = [sys.executable, "-m", "grpc_tools.protoc"]
        arguments = [f"-I{PROTOS}", f"--descriptor_set_out={target}", *names]
        if subprocess.run([*protoc, *arguments], check=False).returncode != 0:
            raise SystemExit("protoc refused the sources (its message is above)")
        files = FileDescriptorSet.FromString(target.read_bytes())
    for file in files.file:
        # Derived from the field name anyway; a third of the set's size.
        for message in _all_messages(list(file.message_type)):
            for field in message.field:
                field.ClearField("json_name")
    return files


def _all_messages(messages: list[DescriptorProto]) -> Iterator[DescriptorProto]:
    for message in messages:
        yield message
        yield from _all_messages(list(message.nested_type))


class StubWriter:
    """Typing stubs out of descriptors: one class per message, nested ones inside."""

    def __init__(self, files: FileDescriptorSet) -> None:
        self._files = files
        self._names: dict[str, str] = {}
        self._entries: dict[str, DescriptorProto] = {}
        for file in files.file:
            for message in file.message_type:
                self._register(f".{file.package}.{message.name}", message.name, message)

    def _register(self, full_name: str, name: str, message: DescriptorProto) -> None:
        if name in self._names.values():
            raise SystemExit(f"two messages are called {name}: tfprof.core.wire.messages is flat")
        self._names[full_name] = name
        if message.options.map_entry:
            self._entries[full_name] = message
        for nested in message.nested_type:
            self._register(f"{full_name}.{nested.name}", f"{name}.{nested.name}", nested)

    def text(self) -> str:
        """The whole stub file."""
        lines = [HEADER]
        for file in self._files.file:
            for enum in file.enum_type:
                lines += [*self._enum(enum), f"{enum.name}: _{enum.name}", ""]
            for message in file.message_type:
                lines += [*self._message(message, ""), ""]
        return "\n".join(lines).rstrip() + "\n"

    def _enum(self, enum: EnumDescriptorProto) -> list[str]:
        values = [f"    {value.name}: builtins.int" for value in enum.value]
        return [f"class _{enum.name}(EnumTypeWrapper):", *values, ""]

    def _message(self, message: DescriptorProto, indent: str) -> list[str]:
        lines = [f"{indent}class {message.name}(Message):"]
        inner = indent + "    "
        for enum in message.enum_type:
            lines += [f"{inner}{value.name}: typing.Final = {value.number}" for value in enum.value]
        for nested in message.nested_type:
            if not nested.options.map_entry:
                lines += self._message(nested, inner)
        arguments = []
        for field in message.field:
            held, accepted = self._types(field)
            if held == accepted:
                lines.append(f"{inner}{field.name}: {held}")
            else:
                lines += [f"{inner}@property", f"{inner}def {field.name}(self) -> {held}: ..."]
            arguments.append(f"{inner}    {field.name}: {accepted} | None = ...,")
        star = [f"{inner}    *,"] if arguments else []
        lines += [f"{inner}def __init__(", f"{inner}    self,", *star, *arguments]
        return [*lines, f"{inner}) -> None: ..."]

    def _types(self, field: FieldDescriptorProto) -> tuple[str, str]:
        """What reading the field gives, and what the constructor takes."""
        item = self._item(field)
        is_message = field.type == field.TYPE_MESSAGE
        if field.label != field.LABEL_REPEATED:
            return (
                item,
                f"{item} | collections.abc.Mapping[str, typing.Any]" if is_message else item,
            )
        if field.type_name in self._entries:
            key, value = self._entries[field.type_name].field
            pair = f"[{self._item(key)}, {self._item(value)}]"
            kind = "MessageMap" if value.type == value.TYPE_MESSAGE else "ScalarMap"
            return f"{kind}{pair}", f"collections.abc.Mapping{pair}"
        if is_message:
            return (
                f"RepeatedCompositeFieldContainer[{item}]",
                f"collections.abc.Iterable[{item}]",
            )
        return f"RepeatedScalarFieldContainer[{item}]", f"collections.abc.Iterable[{item}]"

    def _item(self, field: FieldDescriptorProto) -> str:
        if field.type == field.TYPE_MESSAGE:
            return self._names[field.type_name]
        if field.type in FLOATS:
            return "builtins.float"
        return SCALARS.get(field.type, "builtins.int")


def main(arguments: list[str]) -> int:
    """Write the two files, or with ``--check`` name those that are stale."""
    if set(arguments) - {"--check"}:
        print(__doc__)
        return 2
    files = compile_protos()
    wanted = {
        DESCRIPTORS: files.SerializeToString(deterministic=True),
        STUBS: StubWriter(files).text().encode(),
    }
    stale = [p for p, data in wanted.items() if not p.exists() or p.read_bytes() != data]
    if "--check" in arguments:
        for path in stale:
            print(f"{path.relative_to(PROTOS.parent)} is stale: run python protos/generate.py")
        return 1 if stale else 0
    for path in stale:
        path.write_bytes(wanted[path])
        print(f"wrote {path.relative_to(PROTOS.parent)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
