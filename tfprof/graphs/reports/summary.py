"""``summary`` and ``ModelSummary``: a model layer by layer."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from tfprof.core.columns.frames_of_rows import ReadByDataFrames
from tfprof.core.columns.mixins import NotebookMixin
from tfprof.core.hardware import Device, DeviceLike, device_of
from tfprof.core.text.csv_text import csv_text
from tfprof.errors import MissingDependencyError, UsageError
from tfprof.graphs.costs.layer_tree import LayerRow, folded, layer_rows, scope_rows, share
from tfprof.graphs.costs.params import ParamsReport
from tfprof.graphs.costs.roofline import ASSUMPTION, bound_of
from tfprof.graphs.costs.scope_sums import Amounts, ScopeSums, added, scope_sums
from tfprof.graphs.costs.variable_scopes import using_scopes
from tfprof.graphs.interpreter.analysis import Analysis, Verdict
from tfprof.graphs.model.program import Variable
from tfprof.graphs.model.symbolic import TYPICAL_SIZE, Number, Symbolic, shown
from tfprof.graphs.reports.flops import CONVENTIONS, count, params_of
from tfprof.graphs.reports.flops_text import shape_text
from tfprof.graphs.reports.report import FlopsReport
from tfprof.graphs.reports.summary_text import SummaryTable, summary_text
from tfprof.graphs.reports.targets import InputShapes, Target, target_of

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult


def summary(
    target: Any,
    *,
    batch: int | None = None,
    input_shapes: InputShapes = None,
    convention: str = "flops",
    depth: int | None = None,
    top: int | None = None,
    device: DeviceLike | None = None,
    trip_counts: Mapping[str, int] | int | None = None,
    signature: str | None = None,
    static: bool = False,
) -> ModelSummary:
    """Float operations, parameters and memory of each layer of a model, without running it.

    Layers are those of a Keras model; anything else is shown by its name scopes.

    Args:
        target: As for ``flops``.
        batch: As for ``flops``.
        input_shapes: As for ``flops``.
        convention: Unit of the shares: ``flops`` or ``macs``.
        depth: Show layers inside layers down to this level; None shows all.
        top: Of the layers inside each layer, show the ``top`` most expensive ones, and the others
            together in one row; None shows all.
        device: Estimate the least time of each layer on a device: its name, such as
            ``a100``, or its peak rates (operations per second, bytes per second).
        trip_counts: As for ``flops``.
        signature: As for ``flops``.
        static: As for ``flops``.

    Raises:
        UsageError: The target cannot be counted, or an argument does not fit it.
        InputError: The target cannot be read, is something else or is broken.

    Example:
        >>> import tfprof
        >>> resnet = tfprof.summary(tfprof.demo_files().graph, depth=1)
        >>> resnet.rows[0].weights.params
        25610152
    """
    if convention not in CONVENTIONS:
        raise UsageError(f"convention={convention!r}: use one of {', '.join(CONVENTIONS)}")
    for name, number, least in (("depth", depth, 0), ("top", top, 1), ("batch", batch, 1)):
        if number is not None and (not isinstance(number, int) or number < least):
            raise UsageError(f"{name}={number!r} must be an integer of at least {least}")
    chosen = None if device is None else device_of(device)
    known = target_of(
        target, batch=batch, input_shapes=input_shapes, signature=signature, static=static
    )
    report = count(known, batch, input_shapes, convention, trip_counts)
    return summary_of(known, report, depth=depth, top=top, device=chosen)


def summary_of(
    target: Target,
    report: FlopsReport,
    *,
    depth: int | None = None,
    top: int | None = None,
    device: Device | None = None,
) -> ModelSummary:
    """The summary of a target whose float operations have been counted already."""
    analysis, program = report.analysis, target.program
    params = params_of(program)
    results = None
    if program.fetches is not None:
        results = [
            (place, slot)
            for place in program.fetches
            for slot in range(len(analysis.outputs.get(place, ())))
        ]
    layers = target.layers
    picos_of = None if device is None else partial(_picos_of, device)
    sums = scope_sums(analysis, target.layer_of if layers else None, results, picos_of)
    _add_rounding(sums, report, layers[0].path if layers else "")
    if layers:
        rows = layer_rows(layers[0], sums, params.rows, _batch(target, analysis))
    else:
        variables = [Variable(row.name, row.shape, 0) for row in params.rows]
        rows = scope_rows(sums, params.rows, using_scopes(analysis, variables))
    return ModelSummary(report, params, rows, depth=depth, top=top, device=device)


def _add_rounding(sums: ScopeSums, report: FlopsReport, root: str) -> None:
    """Add the rounding loss to the whole: a branch may run in a fraction of the steps."""
    whole = added(sums.own.values())
    macs = report.macs - whole.macs
    other = report.flops - 2 * report.macs - whole.other
    if macs != 0 or other != 0:
        sums.own[root] = added([sums.own.get(root, Amounts()), Amounts(macs, other)])


def _batch(target: Target, analysis: Analysis) -> Number | None:
    """First dimension of the inputs, if all have the same."""
    inputs = [analysis.outputs.get(place, ()) for place in target.program.inputs.values()]
    sizes = {outputs[0].shape[0] for outputs in inputs if outputs and outputs[0].shape}
    return sizes.pop() if len(sizes) == 1 else None


def _picos_of(device: Device, analysis: Analysis, place: int, verdict: Verdict) -> int | None:
    op = analysis.body.nodes.ops[place]
    inputs, outputs = analysis.inputs(place), analysis.outputs[place]
    return bound_of(op, verdict.cost, inputs, outputs, device).picos


class ModelSummary(NotebookMixin, ReadByDataFrames):
    """A model layer by layer.

    Numbers of a layer are those of one run of the model, all calls of the layer together. In every
    row, its own numbers and those of the rows inside it add up to its total; the first row is the
    whole. Parameters of a layer that is used several times count once, where it comes first.

    Activations are the float tensors that forward ops of a layer pass to ops outside it, or to the
    caller; ops that pass their input on, such as ``Reshape``, make none.

    Attributes:
        report: The float operations, op by op.
        params: The parameters, variable by variable.
        rows: The layers that are shown, each after the one that it is in.
        device: The device that times are estimated for, if any.
    """

    def __init__(
        self,
        report: FlopsReport,
        params: ParamsReport,
        rows: list[LayerRow],
        *,
        depth: int | None = None,
        top: int | None = None,
        device: Device | None = None,
    ) -> None:
        self.report = report
        self.params = params
        self.device = device
        self.rows = folded(rows, depth, top)

    @property
    def flops(self) -> Number:
        """Float operations of the model."""
        return self.report.flops

    @property
    def macs(self) -> Number:
        """Multiply-adds of the model."""
        return self.report.macs

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on the counts."""
        whole = self.rows[0].total
        notes = [*self.report.notes, *self.params.notes]
        if isinstance(self.flops, Symbolic):
            notes.append(
                f"for shares, unknown sizes are taken to be {TYPICAL_SIZE}; batch fills them in"
            )
        if whole.unsized:
            notes.append(f"{whole.unsized:,} activations have unknown sizes: they are left out")
        return tuple(notes)

    @property
    def device_notes(self) -> tuple[str, ...]:
        """Remarks on the times."""
        if self.device is None:
            return ()
        times = f"times of {self.device.about} ({self.device.source}) are {ASSUMPTION}"
        untimed = self.rows[0].total.untimed
        note = f"{untimed:,} ops take no time here: sizes are unknown, or no rate is published"
        return (times, note) if untimed else (times,)

    def share(self, row: LayerRow) -> float | None:
        """Share of a row in the whole, by the convention; None if the whole is 0."""
        count = attrgetter(f"total.{self.report.convention}")
        return share(count(row), count(self.rows[0]))

    def to_rows(self) -> list[dict[str, Any]]:
        """The rows as dictionaries, such as ``pandas.DataFrame`` takes.

        Symbolic numbers are text, such as ``20,000·B``. ``own_…`` leaves out the rows inside.
        """
        return [self._plain(row) for row in self.rows]

    def _plain(self, row: LayerRow) -> dict[str, Any]:
        shapes = None if row.shapes is None else "; ".join(map(shape_text, row.shapes))
        plain = {
            "path": row.path,
            "name": row.name or "total",
            "type": row.kind,
            "depth": row.depth,
            "output_shapes": shapes,
            "params": row.weights.params,
            "trainable_params": row.weights.trainable,
            "non_trainable_params": row.weights.non_trainable,
            "unknown_params": row.weights.unknown,
            "flops": _open(row.total.flops),
            "macs": _open(row.total.macs),
            "share": self.share(row),
            "weight_bytes": row.weights.size_bytes,
            "activation_bytes": _open(row.total.activation_bytes),
            "own_params": row.own_weights.params,
            "own_flops": _open(row.own.flops),
            "own_macs": _open(row.own.macs),
        }
        if self.device is not None:
            picos = row.total.picos
            plain["least_micros"] = picos / 1e6 if isinstance(picos, int) else None
        return plain

    def to_json(self) -> str:
        """One object with totals, coverage, notes, and the rows, one a line."""
        head = {
            "flops": _open(self.flops),
            "macs": _open(self.macs),
            "convention": self.report.convention,
            "params": self.params.total,
            "coverage": self.report.coverage,
            "uncounted": self.report.uncounted,
            "device": None if self.device is None else self.device.name,
            "notes": [*self.notes, *self.device_notes],
        }
        rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in self.to_rows())
        return f'{json.dumps(head, ensure_ascii=False)[:-1]}, "rows": [\n{rows}\n]}}\n'

    def to_csv(self) -> str:
        """The rows of ``to_rows`` with a header."""
        return csv_text(self.to_rows())

    def to_dataframe(self) -> Any:  # pandas may not be there
        """The rows of ``to_rows`` as a pandas ``DataFrame``.

        Raises:
            MissingDependencyError: pandas is not installed.
        """
        try:
            pandas = importlib.import_module("pandas")
        except ImportError:
            raise MissingDependencyError(
                "to_dataframe needs pandas: pip install pandas. to_rows() gives the same rows "
                "without it"
            ) from None
        return pandas.DataFrame(self.to_rows())

    def __str__(self) -> str:
        return summary_text(self)

    def __repr__(self) -> str:
        return f"<ModelSummary {self.params.total:,} params, {self.flops} FLOPs>"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield SummaryTable(self)


def _open(number: Number) -> int | str:
    return number if isinstance(number, int) else shown(number)
