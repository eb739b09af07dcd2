"""A saved profile: the fields that are read, their columns as texts and messages, and damage."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.columns.remarks import Notice, Notices
from tfprof.core.columns.strings import StringTable
from tfprof.core.wire.lockstep import IrregularError
from tfprof.core.wire.plan import Entries, Plan, number, rows, text
from tfprof.core.wire.refusals import REFUSALS
from tfprof.core.wire.scan import Columns, Texts, reordered, scan
from tfprof.core.wire.text_index import TextIndex
from tfprof.errors import MalformedProfileError
from tfprof.profiles.model.executions import MEMORY_FIELDS

if TYPE_CHECKING:
    from google.protobuf.message import Message

    MessageT = TypeVar("MessageT", bound=Message)
    from tfprof.core.wire.scan import Data


class Damage:
    """Receives reports of damage.

    Args:
        label: Name of the profile in errors.
        notices: Where to note what was lost; None: damage is an error.
    """

    def __init__(self, label: str, notices: Notices | None) -> None:
        self._label = label
        self._notices = notices

    @property
    def recovers(self) -> bool:
        """Whether damage is noted instead of refused."""
        return self._notices is not None

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What was lost."""
        return () if self._notices is None else self._notices.as_tuple()

    def error(self, problem: str) -> MalformedProfileError:
        """The error for a profile that is completely unreadable."""
        return MalformedProfileError(f"{self._label}: {problem}")

    def report(self, code: str, broken: BoolArray, what: Callable[[int], str], loss: str) -> None:
        """Report damage.

        Args:
            code: Code of the notice.
            broken: Which things are damaged; nothing is reported if none is.
            what: Gives the place of a damaged thing, and what is wrong with it.
            loss: What is lost without the damaged things.

        Raises:
            MalformedProfileError: Something is damaged, and the profile is not to be recovered.
        """
        places = np.flatnonzero(broken)
        if not len(places):
            return
        if self._notices is None:
            raise self.error(
                f"{what(int(places[0]))}. The profile is damaged: save it again, or load what is "
                "left of it with recover=True"
            )
        self._notices.add(code, loss, len(places))


_NUMBER_BYTES = 8


def decode(payload: bytes) -> str:
    """A text of a message.

    Raises:
        IrregularError: It is not UTF-8.
    """
    try:
        return payload.decode()
    except UnicodeDecodeError:
        raise IrregularError from None


def parsed(message_class: type[MessageT], payload: bytes) -> MessageT:
    """A message, decoded by protobuf.

    Raises:
        IrregularError: The bytes are broken.
    """
    try:
        return message_class.FromString(payload)
    except REFUSALS:
        raise IrregularError from None


def single(elements: Columns, n_rows: int) -> Texts:
    """The element of each row above, empty where there is none.

    Raises:
        IrregularError: Some row has several, which protobuf would merge.
    """
    if has_equal_neighbours(elements.parent):
        raise IrregularError
    texts = elements.text("value")
    start, length = np.zeros(n_rows, np.int64), np.zeros(n_rows, np.int64)
    start[elements.parent], length[elements.parent] = texts.start, texts.length
    return Texts(texts.data, start, length)


def counts_of(elements: Columns, n_rows: int) -> Int64Array:
    """How many elements each row above has, shape (n rows,)."""
    return np.bincount(elements.parent, minlength=n_rows)


def number_texts(texts: Texts) -> tuple[Int64Array, list[bytes]]:
    """Number equal texts alike, in order of first appearance.

    Returns:
        The number of each text, shape (n,), and the distinct texts by number.
    """
    index = TextIndex()
    numbers = index.intern(texts)
    return numbers, [index[number] for number in range(len(index))]


def number_lists(
    values: Int64Array, counts: Int64Array
) -> tuple[Int64Array, list[tuple[int, ...]]]:
    """The same for lists of numbers.

    Args:
        values: The values of one list after the other.
        counts: How many each list has, shape (n,).
    """
    length = counts * _NUMBER_BYTES
    numbers, distinct = number_texts(Texts(values.tobytes(), np.cumsum(length) - length, length))
    return numbers, [tuple(np.frombuffer(content, np.int64).tolist()) for content in distinct]


def number_rows(*columns: Int64Array) -> tuple[Int64Array, list[tuple[int, ...]]]:
    """The same for the rows of columns."""
    table = np.stack(columns, axis=1)
    return number_lists(table, np.full(len(table), len(columns), np.int64))


def intern_texts(texts: Texts, strings: StringTable) -> Int64Array:
    """Ids of texts, shape (n,).

    Raises:
        IrregularError: One is not UTF-8.
    """
    numbers, distinct = number_texts(texts)
    ids = np.array([strings.intern(decode(content)) for content in distinct], np.int64)
    return ids[numbers]


def has_equal_neighbours(values: Int64Array) -> bool:
    """Whether some number equals the one before it."""
    return bool((values[1:] == values[:-1]).any())


def has_repeats(first: Int64Array, second: Int64Array) -> bool:
    """Whether some pair of numbers occurs twice."""
    order = np.lexsort((second, first))
    first, second = first[order], second[order]
    return bool(((first[1:] == first[:-1]) & (second[1:] == second[:-1])).any())


Tables: TypeAlias = dict[str, Columns]
"""Columns by the name of their table."""

NODE = "nodes.value"
EXEC = f"{NODE}.execs.value"


@functools.cache
def profile_plan() -> Plan:
    """All fields; single executions and the values of attributes stay as bytes."""
    times: Entries = [text("key"), rows("value.times", [rows("int64_values")])]
    buffer = [number("key"), number("value.bytes"), number("value.ptr")]
    execution: Entries = [
        number("key"),
        number("value.run_count"),
        number("value.all_start_micros"),
        number("value.latest_end_micros"),
        rows("value.accelerator_execs", times),
        rows("value.cpu_execs", times),
        rows("value.devices"),
        rows("value.memory_execs", [*map(number, MEMORY_FIELDS), rows("output_memory", buffer)]),
        rows("value.allocations", [number("alloc_micros"), number("alloc_bytes")]),
    ]
    numbers = [number("key"), number("value")]
    node: Entries = [
        number("key"),
        text("value.name"),
        rows("value.inputs", numbers),
        rows("value.shape"),
        rows("value.op_types"),
        text("value.canonical_device"),
        number("value.float_ops"),
        text("value.op"),
        rows("value.trace"),
        rows("value.attrs", [text("key"), rows("value")]),
        rows("value.execs", execution),
        rows("value.src_output_index", numbers),
        rows("value.output_shapes", [number("key"), rows("value.int64_values")]),
        rows("value.input_ports"),
        number("value.further_runs"),
    ]
    return Plan(
        "tfprof.SavedProfile",
        [
            rows("nodes", node),
            number("has_trace"),
            rows("steps"),
            rows("id_to_string", [number("key"), text("value")]),
            number("miss_accelerator_stream"),
            rows("step_details"),
            rows("detail_strings"),
        ],
    )


@functools.cache
def _node_plan() -> Plan:
    return Plan("tfprof.SavedNodes", [rows("nodes", [rows("value")])])


def scan_profile(data: Data) -> tuple[Tables, Texts]:
    """The tables of a saved profile, with the nodes in the order of their ids; and the nodes.

    Raises:
        IrregularError: The bytes are not a profile, or one that only protobuf can read.
    """
    plan = profile_plan()
    try:
        tables = scan(plan, data)
        _, entries, values = scan(_node_plan(), data)
    except REFUSALS:
        raise IrregularError from None
    nodes = single(values, len(entries))
    place = plan.table("nodes")
    ids = tables[place].number("key")
    if (np.diff(ids) <= 0).any():
        order = np.argsort(ids, kind="stable")
        if (np.diff(ids[order]) == 0).any():
            raise IrregularError  # protobuf takes the last
        tables = reordered(plan, tables, place, order)
        nodes = nodes.take(order)
    return {table.name: part for table, part in zip(plan.tables, tables, strict=True)}, nodes
