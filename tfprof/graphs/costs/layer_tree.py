"""Layers or name scopes of a model as a tree of rows with costs and parameters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import NamedTuple

from tfprof.graphs.costs.params import ParamRow, ParamsReport
from tfprof.graphs.costs.scope_sums import Amounts, ScopeSums, added
from tfprof.graphs.live.traced_graph import TracedLayer
from tfprof.graphs.model.symbolic import Number, typical
from tfprof.graphs.model.tensors import PartialShape
from tfprof.graphs.model.variable_names import enclosing
from tfprof.graphs.shapes.dims import compatible

NO_LAYER = "(weights outside all layers)"
"""Row of the variables that belong to no layer."""


class Weights(NamedTuple):
    """Parameters somewhere.

    Attributes:
        trainable: Those that training changes.
        non_trainable: Those that it does not change.
        unknown: Those that the program does not mark as trainable or not.
        size_bytes: Bytes of all.
    """

    trainable: int = 0
    non_trainable: int = 0
    unknown: int = 0
    size_bytes: int = 0

    @property
    def params(self) -> int:
        """All of them."""
        return self.trainable + self.non_trainable + self.unknown


def weights_of(rows: Iterable[ParamRow]) -> Weights:
    """The parameters of variables."""
    report = ParamsReport(tuple(rows))
    return Weights(report.trainable, report.non_trainable, report.unknown, report.bytes)


def added_weights(parts: Iterable[Weights]) -> Weights:
    """The sum of parameters."""
    return Weights(*map(sum, zip(Weights(), *parts, strict=True)))


@dataclass(frozen=True, slots=True)
class LayerRow:
    """A layer or name scope.

    Attributes:
        path: Its path from the model; empty for a graph as a whole.
        name: The last part of it.
        kind: Class of the layer; ``scope`` for a name scope, ``…`` for rows that were folded.
        depth: Number of rows around it.
        parent: Place of the row around it, -1 for the first.
        shapes: Shapes of its output tensors; None if they are unknown.
        own: Its cost without the rows inside it.
        total: Its cost with the rows inside it.
        own_weights: Its parameters without the rows inside it.
        weights: Its parameters with the rows inside it.
        folded: Number of layers that this row stands for.
    """

    path: str
    name: str
    kind: str
    depth: int
    parent: int
    shapes: tuple[PartialShape, ...] | None
    own: Amounts
    total: Amounts
    own_weights: Weights
    weights: Weights
    folded: int = 0


class _Part(NamedTuple):
    """A row before it has numbers."""

    name: str
    kind: str
    parent: str | None
    shapes: tuple[PartialShape, ...] | None


def layer_rows(
    layer: TracedLayer,
    sums: ScopeSums,
    variables: Sequence[ParamRow],
    batch: Number | None = None,
) -> list[LayerRow]:
    """Rows of a model's layers, in the order of the model.

    Functions that a layer calls count for the layer; ops outside all layers, for the model.

    Args:
        layer: The model.
        sums: Costs of scopes; those of layers are their paths.
        variables: The parameters.
        batch: First dimension of the model's inputs.
    """
    parts: dict[str, _Part] = {}
    weights: dict[str, list[ParamRow]] = {}
    by_name = {variable.name: variable for variable in variables}
    waiting: list[tuple[TracedLayer, str | None]] = [(layer, None)]
    while waiting:
        each, parent = waiting.pop()
        shapes = _completed(each.output_shapes, _shapes(sums, each.path), batch)
        parts[each.path] = _Part(each.name, each.class_name, parent, shapes)
        held = [by_name.pop(name) for name in each.variables if name in by_name]
        weights[each.path] = held
        waiting += [(child, each.path) for child in reversed(each.children)]
    if by_name:
        path = f"{layer.path}/{NO_LAYER}"
        parts[path] = _Part(NO_LAYER, "", layer.path, ())
        weights[path] = list(by_name.values())
    own: dict[str, list[Amounts]] = defaultdict(list)
    for scope, amounts in sums.own.items():
        own[_nearest(scope, parts) or layer.path].append(amounts)
    return _rows(parts, own, weights)


def scope_rows(
    sums: ScopeSums, variables: Sequence[ParamRow], users: Mapping[str, str]
) -> list[LayerRow]:
    """Rows of name scopes, in the order in which their ops first run; the whole comes first.

    Args:
        sums: Costs of scopes.
        variables: The parameters.
        users: The scope that uses a variable, by its name. The variable counts for the innermost
            scope of its own name that has costs, or for one inside that which uses it.
    """
    parts = {"": _Part("", "", None, _shapes(sums, ""))}
    for scope in sums.own:
        missing = takewhile(lambda each: each not in parts, enclosing(scope))
        for each in reversed(list(missing)):
            around, _, name = each.rpartition("/")
            parts[each] = _Part(name, "scope", around, _shapes(sums, each))
    own = {scope: [amounts] for scope, amounts in sums.own.items()}
    weights: dict[str, list[ParamRow]] = defaultdict(list)
    homeless = []
    for variable in variables:
        named = _nearest(variable.name.rpartition("/")[0], parts)
        used = _nearest(users.get(variable.name, ""), parts)
        home = used if used and (not named or used.startswith(f"{named}/")) else named
        if home or variable.name in users:
            weights[home or ""].append(variable)
        else:
            homeless.append(variable)
    if homeless:
        parts[NO_LAYER] = _Part(NO_LAYER, "", "", ())
        weights[NO_LAYER] = homeless
    return _rows(parts, own, weights)


def _nearest(scope: str, parts: Mapping[str, _Part]) -> str | None:
    """The innermost row that a scope is in; None for the whole and for no row."""
    return next((each for each in enclosing(scope) if each in parts), None)


def _rows(
    parts: Mapping[str, _Part],
    own: Mapping[str, list[Amounts]],
    weights: Mapping[str, list[ParamRow]],
) -> list[LayerRow]:
    """Rows in preorder, with totals."""
    children: dict[str | None, list[str]] = defaultdict(list)
    for path, part in parts.items():
        children[part.parent].append(path)
    root = children[None][0]
    order: list[str] = []
    depths, places = {root: 0}, {}
    waiting = [root]
    while waiting:
        path = waiting.pop()
        places[path] = len(order)
        order.append(path)
        depths.update((child, depths[path] + 1) for child in children[path])
        waiting += reversed(children[path])
    rows: dict[str, LayerRow] = {}
    for path in reversed(order):
        part = parts[path]
        inner = [rows[child] for child in children[path]]
        here, held = added(own.get(path, ())), weights_of(weights.get(path, ()))
        rows[path] = LayerRow(
            path, part.name, part.kind, depths[path],
            -1 if part.parent is None else places[part.parent], part.shapes,
            here, added([here, *[row.total for row in inner]]),
            held, added_weights([held, *[row.weights for row in inner]]),
        )  # fmt: skip
    return [rows[path] for path in order]


def _shapes(sums: ScopeSums, scope: str) -> tuple[PartialShape, ...] | None:
    """Distinct shapes of the tensors that leave a scope."""
    tensors = sums.outputs.get(scope)
    return None if tensors is None else tuple(dict.fromkeys(tensor.shape for tensor in tensors))


def _completed(
    shapes: tuple[PartialShape, ...] | None,
    inferred: tuple[PartialShape, ...] | None,
    batch: Number | None,
) -> tuple[PartialShape, ...] | None:
    """Shapes from Keras, completed with sizes from the analysis."""
    if shapes is None:
        return inferred
    completed = []
    for shape in shapes:
        if shape is not None and None in shape:
            known = [other for other in inferred or () if other is not None]
            fitting = next((other for other in known if compatible(shape, other)), None)
            first = batch if shape[0] is None else shape[0]
            shape = fitting or (first, *shape[1:])  # noqa: PLW2901
        completed.append(shape)
    return tuple(completed)


def folded(rows: Sequence[LayerRow], depth: int | None, top: int | None) -> list[LayerRow]:
    """Fewer rows whose numbers still add up.

    Args:
        rows: Rows in preorder.
        depth: Leave out rows deeper than this; their cost becomes the own cost of the row above.
        top: Of the rows inside each row, keep the ``top`` most expensive ones. One more row stands
            for the others, if there are at least two.
    """
    children: list[list[int]] = [[] for _ in rows]
    for place, row in enumerate(rows):
        if row.parent >= 0:
            children[row.parent].append(place)
    result: list[LayerRow] = []
    waiting: list[tuple[LayerRow, int | None, int]] = [(rows[0], 0, -1)]
    while waiting:
        row, index, around = waiting.pop()
        here = len(result)
        inner = children[index] if index is not None else []
        if inner and depth is not None and row.depth >= depth:
            row = replace(row, own=row.total, own_weights=row.weights)
            inner = []
        result.append(replace(row, parent=around))
        kept = _most_expensive(rows, inner, top)
        rest = [rows[child] for child in inner if child not in kept]
        if rest:
            waiting.append((_rest(row, rest), None, here))
        waiting += [(rows[child], child, here) for child in reversed(inner) if child in kept]
    return result


def _most_expensive(rows: Sequence[LayerRow], places: Sequence[int], top: int | None) -> set[int]:
    if top is None or len(places) <= top + 1:
        return set(places)

    def cost(place: int) -> tuple[int, int, int, int]:
        row = rows[place]
        activations = typical(row.total.activation_bytes)
        return -typical(row.total.flops), -row.weights.params, -activations, place

    return set(sorted(places, key=cost)[:top])


def _rest(around: LayerRow, rest: Sequence[LayerRow]) -> LayerRow:
    amounts = added(row.total for row in rest)
    weights = added_weights(row.weights for row in rest)
    name = f"… {len(rest):,} more"
    path = f"{around.path}/{name}" if around.path else name
    return LayerRow(
        path, name, "…", around.depth + 1, 0, (), amounts, amounts, weights, weights, len(rest)
    )


def share(part: Number, whole: Number) -> float | None:
    """Part of the whole, 0 to 1, with equal sizes for all unknowns; None if the whole is 0."""
    known = typical(whole)
    return typical(part) / known if known else None
