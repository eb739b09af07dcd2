"""Stacks as profiles of OpenTelemetry, ``opentelemetry.proto.profiles.v1development``.

The format is not stable yet. A profile there has samples of one type, so each type of ours is a
profile of its own; all of them share stacks and names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tfprof.core.columns.stacks import Stacks
from tfprof.core.columns.strings import InternTable
from tfprof.core.version import __version__
from tfprof.core.wire.messages import Otlp

_NO_STACK: tuple[int, ...] = ()
_NO_LOCATION = (-1, -1)


def otlp_chunks(
    stacks: Stacks,
    resource: Mapping[str, str] | None = None,
    *,
    begin_ns: int = 0,
    duration_ns: int = 0,
) -> Iterator[bytes]:
    """The profiles as one message; equal stacks give equal bytes.

    Args:
        stacks: The stacks.
        resource: What was profiled, by attribute, such as ``service.name``.
        begin_ns: When, since 1970; 0 if unknown.
        duration_ns: How long.
    """
    tables = _Tables()
    attributes = _attributes(stacks, tables)
    stack_of = [tables.stack(stacks, path) for path in stacks.paths(stacks.nodes.tolist())]
    scope = Otlp.ScopeProfiles(scope=Otlp.InstrumentationScope(name="tfprof", version=__version__))
    for kind, values in zip(stacks.types, stacks.values.tolist(), strict=True):
        unit = Otlp.ValueType(
            type_strindex=tables.text(kind.name), unit_strindex=tables.text(kind.unit)
        )
        profile = scope.profiles.add(
            sample_type=unit, time_unix_nano=begin_ns, duration_nano=duration_ns
        )
        for row, value in enumerate(values):
            profile.samples.add(
                stack_index=stack_of[row], attribute_indices=attributes[row], values=[value]
            )
    about = [
        Otlp.KeyValue(key=key, value=Otlp.AnyValue(string_value=_plain(text)))
        for key, text in (resource or {}).items()
    ]
    one = Otlp.ResourceProfiles(resource=Otlp.Resource(attributes=about), scope_profiles=[scope])
    data = Otlp.ProfilesData(resource_profiles=[one], dictionary=tables.dictionary())
    yield data.SerializeToString(deterministic=True)


class _Tables:
    """The shared tables; entry 0 of each is empty."""

    def __init__(self) -> None:
        self._texts = InternTable[str]([""])
        self._functions = InternTable[tuple[int, int]]([(0, 0)])
        self._locations = InternTable[tuple[int, int]]([_NO_LOCATION])
        self._stacks = InternTable[tuple[int, ...]]([_NO_STACK])
        self._attributes = InternTable[tuple[int, str | int]]([(0, "")])
        self._of_frame: dict[int, int] = {}

    def text(self, text: str) -> int:
        return self._texts.intern(_plain(text))

    def attribute(self, key: str, value: str | int) -> int:
        return self._attributes.intern((self.text(key), value))

    def stack(self, stacks: Stacks, path: list[int]) -> int:
        """The stack of a path of frames, the outermost first."""
        return self._stacks.intern(tuple(self._location(stacks, one) for one in reversed(path)))

    def _location(self, stacks: Stacks, frame: int) -> int:
        known = self._of_frame.get(frame)
        if known is None:
            name, file, line = stacks.frames[frame]
            function = self._functions.intern((self.text(name), self.text(file)))
            known = self._of_frame[frame] = self._locations.intern((function, line))
        return known

    def dictionary(self) -> Otlp.ProfilesDictionary:
        made = Otlp.ProfilesDictionary(mapping_table=[Otlp.Mapping()], link_table=[Otlp.Link()])
        for number, (function, line) in enumerate(self._locations.values):
            location = made.location_table.add()
            if number:
                location.lines.add(function_index=function, line=line)
        for name, file in self._functions.values:
            made.function_table.add(name_strindex=name, filename_strindex=file)
        for places in self._stacks.values:
            made.stack_table.add(location_indices=places)
        for number, (key, value) in enumerate(self._attributes.values):
            attribute = made.attribute_table.add(key_strindex=key)
            if number:
                attribute.value.CopyFrom(
                    Otlp.AnyValue(int_value=value)
                    if isinstance(value, int)
                    else Otlp.AnyValue(string_value=value)
                )
        made.string_table.extend(self._texts.values)
        return made


def _attributes(stacks: Stacks, tables: _Tables) -> list[list[int]]:
    """The attributes of each sample: its labels."""
    found: list[list[int]] = [[] for _ in range(len(stacks.nodes))]
    for name, coded in stacks.labels.items():
        texts = [_plain(text) for text in coded.texts]
        for row, place in enumerate(coded.places.tolist()):
            if place >= 0:
                found[row].append(tables.attribute(name, texts[place]))
    for name, column in stacks.numbers.items():
        for row, number in enumerate(column.tolist()):
            if number >= 0:
                found[row].append(tables.attribute(name, number))
    return found


def _plain(text: str) -> str:
    """Without lone surrogates, which protobuf cannot hold."""
    return text.encode("utf-8", "replace").decode()
