"""Parameters: their number, their types, and which of them train."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from tfprof.core.columns.frames_of_rows import ReadByDataFrames
from tfprof.core.columns.mixins import NotebookMixin
from tfprof.core.text.units import human_memory
from tfprof.graphs.model.program import Variable
from tfprof.graphs.model.tensors import ELEMENT_BYTES, PartialShape, known_dims

_TYPE_NAMES = {
    1: "float32", 2: "float64", 3: "int32", 4: "uint8", 5: "int16", 6: "int8", 7: "string",
    8: "complex64", 9: "int64", 10: "bool", 11: "qint8", 12: "quint8", 13: "qint32",
    14: "bfloat16", 15: "qint16", 16: "quint16", 17: "uint16", 18: "complex128", 19: "float16",
    20: "resource", 21: "variant", 22: "uint32", 23: "uint64", 24: "float8_e5m2",
    25: "float8_e4m3fn", 26: "float8_e4m3fnuz", 27: "float8_e4m3b11fnuz", 28: "float8_e5m2fnuz",
    29: "int4", 30: "uint4", 31: "int2", 32: "uint2", 33: "float4_e2m1fn",
}  # fmt: skip
"""Names as TensorFlow's Python API spells them, by ``DataType``."""

_UNKNOWN = "n/a"
_TRAINABLE_TEXT = {True: "yes", False: "no", None: _UNKNOWN}


class ParamRow(NamedTuple):
    """A variable.

    Attributes:
        name: Its name.
        shape: Its shape, None for what is unknown.
        dtype: Name of its element type; ``n/a`` if unknown.
        params: Number of its elements; None if unknown.
        trainable: Whether training changes it; None if the program does not say.
        size_bytes: Bytes that it takes; None if unknown.
    """

    name: str
    shape: PartialShape
    dtype: str
    params: int | None
    trainable: bool | None
    size_bytes: int | None


@dataclass(frozen=True, slots=True, repr=False)
class ParamsReport(NotebookMixin, ReadByDataFrames):
    """How many parameters a program has; ``int(report)`` is their number.

    Attributes:
        rows: The variables, in the order of the program.
        notes: What a reader should know about the numbers.

    Example:
        >>> from tfprof.graphs.model.program import Variable
        >>> report = params_report([
        ...     Variable("dense/kernel", (4, 3), 1, True), Variable("norm/mean", (3,), 1, False)
        ... ])
        >>> report.total, report.trainable, report.non_trainable, report.bytes
        (15, 12, 3, 60)
    """

    rows: tuple[ParamRow, ...]
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<ParamsReport {self.total:,} params of {len(self.rows):,} variables>"

    @property
    def total(self) -> int:
        """Parameters of all variables whose shape is known; ``notes`` counts the others."""
        return sum(row.params or 0 for row in self.rows)

    @property
    def trainable(self) -> int:
        """Parameters that training changes."""
        return self._sum(True)

    @property
    def non_trainable(self) -> int:
        """Parameters that training does not change, such as moving averages."""
        return self._sum(False)

    @property
    def unknown(self) -> int:
        """Parameters of variables that the program does not mark as trainable or not."""
        return self._sum(None)

    def _sum(self, trainable: bool | None) -> int:
        return sum(row.params or 0 for row in self.rows if row.trainable is trainable)

    @property
    def bytes(self) -> int:
        """Bytes that the variables take, as far as shape and type are known."""
        return sum(row.size_bytes or 0 for row in self.rows)

    @property
    def uncounted(self) -> tuple[str, ...]:
        """Names of the variables whose number of elements is unknown."""
        return tuple(row.name for row in self.rows if row.params is None)

    @property
    def by_scope(self) -> dict[str, int]:
        """Parameters in each name scope and all scopes below it, in order of appearance.

        A variable whose name has no scope counts under ``""``, as all do.
        """
        scopes: dict[str, int] = {"": self.total}
        for row in self.rows:
            end = row.name.find("/")
            while end >= 0:
                scope = row.name[:end]
                if scope:
                    scopes[scope] = scopes.get(scope, 0) + (row.params or 0)
                end = row.name.find("/", end + 1)
        return scopes

    def to_rows(self) -> list[dict[str, Any]]:
        """The variables as dictionaries, such as ``pandas.DataFrame`` takes."""
        return [row._asdict() for row in self.rows]

    def __int__(self) -> int:
        return self.total

    def __str__(self) -> str:
        return "\n".join([totals_line(self), *_table(self.rows), *self.notes])


def totals_line(report: ParamsReport) -> str:
    """``25,610,269 parameters (102 MB): 25,557,032 trainable, 53,237 not trainable``."""
    counts = {
        "trainable": report.trainable,
        "not trainable": report.non_trainable,
        "not known to be trainable or not": report.unknown,
    }
    parts = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
    detail = f": {parts}" if parts else ""
    return f"{report.total:,} parameters ({human_memory(report.bytes)}){detail}"


def _table(rows: Iterable[ParamRow]) -> list[str]:
    cells = [("name", "shape", "type", "params", "trainable")]
    cells += [
        (
            row.name,
            _shape_text(row.shape),
            row.dtype,
            _UNKNOWN if row.params is None else f"{row.params:,}",
            _TRAINABLE_TEXT[row.trainable],
        )
        for row in rows
    ]
    if len(cells) == 1:
        return []
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        f"{name:{widths[0]}}  {shape:{widths[1]}}  {dtype:{widths[2]}}  {params:>{widths[3]}}  "
        f"{trainable}"
        for name, shape, dtype, params, trainable in cells
    ]


def _shape_text(shape: PartialShape) -> str:
    if shape is None:
        return _UNKNOWN
    return "(" + ", ".join("?" if dim is None else str(dim) for dim in shape) + ")"


def params_report(variables: Iterable[Variable], notes: Iterable[str] = ()) -> ParamsReport:
    """Count the parameters of variables, each given once; ``notes`` say where they come from."""
    rows = tuple(map(_row, variables))
    without = sum(row.params is None for row in rows)
    note = (
        f"{without} of {len(rows)} variables have no complete shape in this program: "
        "they are not counted"
    )
    return ParamsReport(rows, (*notes, note) if without else tuple(notes))


def _row(variable: Variable) -> ParamRow:
    dims = known_dims(variable.shape)
    params = None if dims is None else int(math.prod(dims))
    width = ELEMENT_BYTES.get(variable.dtype)
    return ParamRow(
        variable.name,
        variable.shape,
        _TYPE_NAMES.get(variable.dtype, _UNKNOWN),
        params,
        variable.trainable,
        None if params is None or width is None else params * width,
    )
