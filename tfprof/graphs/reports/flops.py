"""``flops`` and ``params``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfprof.errors import UsageError
from tfprof.graphs.costs.graph_variables import variables_of_graph
from tfprof.graphs.costs.params import ParamsReport, params_report
from tfprof.graphs.flops.registry import all_formulas
from tfprof.graphs.interpreter.analysis import Status
from tfprof.graphs.interpreter.engine import Engine, Settings
from tfprof.graphs.interpreter.phases import STEP
from tfprof.graphs.model.program import Program
from tfprof.graphs.reports.report import FlopsReport
from tfprof.graphs.reports.targets import (
    InputShapes,
    Target,
    declared_shape,
    shapes_by_node,
    target_of,
)

CONVENTIONS = ("flops", "macs")


def flops(
    target: Any,
    *,
    batch: int | None = None,
    input_shapes: InputShapes = None,
    convention: str = "flops",
    trip_counts: Mapping[str, int] | int | None = None,
    signature: str | None = None,
    static: bool = False,
) -> FlopsReport:
    """Count the float operations of a model, function or graph, without running it.

    Nothing is added to the user's graph, and the same question has the same answer every time.

    Args:
        target: A Keras 3 or ``tf_keras`` model, a ``tf.function`` or ConcreteFunction, a
            ``tf.Graph``; a GraphDef, MetaGraphDef or SavedModel as message, bytes or path, which
            need no TensorFlow; or a ``Profiler``: then shapes are those of its runs, and only ops
            that ran count.
        batch: First dimension of the inputs, where the graph leaves it open. Without it the count
            may be symbolic: ``20,000·B + 400``.
        input_shapes: Shapes of the inputs: a dict by name, a list in order, or the shape of the
            only input.
        convention: Unit of the report's totals: ``flops``, a multiply-add being two of them, or
            ``macs``, multiply-adds.
        trip_counts: How often loops run, if the graph does not determine it: one number for all
            loops, or a dict by name.
        signature: Of a SavedModel, the signature to call; by default ``serving_default``.
        static: Count all ops of the graph, also those that no recorded step has run.

    Raises:
        UsageError: The target cannot be counted, or an argument does not fit it.
        InputError: The target cannot be read, is something else or is broken.

    Example:
        >>> import tfprof
        >>> report = tfprof.flops(tfprof.demo_files().graph)
        >>> report.coverage
        1.0
    """
    check_arguments(batch, convention)
    known = target_of(
        target, batch=batch, input_shapes=input_shapes, signature=signature, static=static
    )
    return count(known, batch, input_shapes, convention, trip_counts)


def check_arguments(batch: int | None, convention: str) -> None:
    """Check arguments before anything is read or traced.

    Raises:
        UsageError: One is invalid.
    """
    if convention not in CONVENTIONS:
        raise UsageError(
            f"convention={convention!r}: use flops (a multiply-add is 2) or macs (it is 1)"
        )
    if batch is not None and (not isinstance(batch, int) or batch < 1):
        raise UsageError(f"batch={batch!r} must be a positive integer")


def count(
    target: Target,
    batch: int | None,
    input_shapes: InputShapes,
    convention: str,
    trip_counts: Mapping[str, int] | int | None,
) -> FlopsReport:
    """Count the float operations of a target that has been read. Arguments as in ``flops``."""
    program = target.program
    formulas, free = all_formulas()
    settings = Settings(
        batch=batch,
        input_shapes={} if target.is_traced else shapes_by_node(program, input_shapes),
        trip_counts={**target.observed.trips, **_trip_counts(trip_counts)},
        branch_runs=target.observed.branches,
        node_runs=target.observed.nodes,
        formulas=formulas,
        free=free,
    )
    engine = Engine(program, settings)
    try:
        analysis = engine.run()
    except OverflowError as error:
        raise UsageError(f"target: {error}; fill them in with batch= or input_shapes=") from error
    if batch is not None and not target.is_traced and not engine.sizes.batch_is_free:
        _check_batch(target, batch)
    left_out = {
        place
        for place in target.idle
        if analysis.outcomes[place] is not None and analysis.times.get(place) != 0
    }
    analysis.times.update(dict.fromkeys(left_out, 0))
    report = FlopsReport(
        analysis, convention=convention, notes=tuple(engine.notes), layer_of=target.layer_of
    )
    costly = sum(
        row.analysis is analysis
        and row.place in left_out
        and row.phase in STEP
        and (row.verdict.cost.flops != 0 or row.verdict.status is Status.CALL)
        for row in (report.ops if left_out else ())
    )
    if costly:
        report.notes += (
            f"ops of the graph that no recorded step has run are left out: {costly:,} with float "
            "operations; the option static counts the whole graph",
        )
    return report


def _trip_counts(given: Mapping[str, int] | int | None) -> Mapping[str, int]:
    counts = {} if given is None else {"": given} if isinstance(given, int) else dict(given)
    for name, number in counts.items():
        if not isinstance(number, int) or number < 0:
            raise UsageError(
                f"trip_counts: {name or 'the number for all loops'} is {number!r}; give a number "
                "that is not negative"
            )
    return counts


def _check_batch(target: Target, batch: int) -> None:
    """Check that a batch size which no input needed is the one in the graph.

    Raises:
        UsageError: The graph has another one.
    """
    nodes = target.program.body.nodes
    if not target.program.inputs:
        raise UsageError(f"batch={batch}: this graph has no inputs, so it has no batch to choose")
    for name, place in target.program.inputs.items():
        node = nodes[place]
        both = (declared_shape(node), node.kind.attrs.get("shape"))  # one may leave it open
        fixed = [shape[0] for shape in both if shape and shape[0] is not None]
        if any(size != batch for size in fixed):
            raise UsageError(
                f"batch={batch}: the input {name} has a fixed first dimension of {fixed[0]}; "
                "leave batch out, or trace or export the model again with another one"
            )


def params(
    target: Any, *, batch: int | None = None, input_shapes: InputShapes = None
) -> ParamsReport:
    """Count the parameters of a model, function or graph.

    Args:
        target: As for ``flops``.
        batch: As for ``flops``; it only matters for tracing a model.
        input_shapes: As for ``flops``; models that were never built need it.

    Raises:
        UsageError: The parameters of the target cannot be counted.
        InputError: The target cannot be read, is something else or is broken.

    Example:
        >>> import tfprof
        >>> tfprof.params(tfprof.demo_files().graph).total
        25610152
    """
    return params_of(target_of(target, batch=batch, input_shapes=input_shapes).program)


def params_of(program: Program) -> ParamsReport:
    """The parameters that a program declares, else those in its graph."""
    if program.variables is not None:
        return params_report(program.variables)
    from_graph = variables_of_graph(program.body, None, program.function)
    return params_report(from_graph.variables, from_graph.notes)
