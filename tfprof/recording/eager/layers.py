"""Renames name scopes to the names of the Keras layers.

TensorFlow makes the name scopes of a graph unique, and Keras opens the scope of a layer more than
once. So the layers ``dense`` and ``dense_1`` become the scopes ``dense_1`` and ``dense_1_2``, which
misleads. The model tells which scope belongs to which layer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tfprof.graphs.live.function_graphs import FunctionBody, LayerTree

_MIRRORED = "gradient_tape/"
"""Scope of gradient ops, which repeats the scopes of the forward ops."""


@dataclass(slots=True)
class _Scope:
    """A name scope: its path, and its inner scopes in the order of the graph."""

    path: str
    inner: dict[str, _Scope] = field(default_factory=dict)


def layer_renaming(
    models: Sequence[LayerTree],
) -> Callable[[FunctionBody], Mapping[str, str]]:
    """A function that renames the nodes of a function body, so that scopes have layer names.

    Args:
        models: The layers.

    Returns:
        A function from a body to its new names, by old name; only changed names are in it.
    """

    def rename(body: FunctionBody) -> Mapping[str, str]:
        names = [node.name for node in body.nodes]
        layers = scopes_of_layers(names, models)
        renamed = {name: _new_name(name, layers) for name in names} if layers else {}
        return _unique(renamed, names)

    return rename


def scopes_of_layers(names: Sequence[str], models: Sequence[LayerTree]) -> dict[str, str]:
    """The name of the layer of each scope that has one, by the scope's path.

    Args:
        names: Node names, in the order of the graph.
        models: The layers; inner layers are searched only in the scope of the outer one.
    """
    layer_names: dict[str, str] = {}
    waiting = [(_scope_tree(names), list(models))]
    while waiting:
        scope, layers = waiting.pop()
        matches = _match(list(scope.inner), layers)
        for name, inner in scope.inner.items():
            layer = matches.get(name)
            if layer is not None:
                layer_names[inner.path] = layer.name
            waiting.append((inner, layer.children if layer is not None else layers))
    return layer_names


def _scope_tree(names: Sequence[str]) -> _Scope:
    root = _Scope("")
    for name in names:
        scope = root
        for part in name.removeprefix(_MIRRORED).split("/")[:-1]:
            path = f"{scope.path}/{part}" if scope.path else part
            scope = scope.inner.setdefault(part, _Scope(path))
    return root


def _match(scopes: list[str], layers: list[LayerTree]) -> dict[str, LayerTree]:
    """The layer of each scope; a layer has at most one scope.

    A scope has the layer's name, perhaps with a number added. If several layers fit, scopes with
    a single fitting layer are matched first. If that is not enough, the number counts as added.
    """
    candidates = {
        scope: [layer for layer in layers if _fits(scope, layer.name)] for scope in scopes
    }
    matches: dict[str, LayerTree] = {}
    matched: set[str] = set()
    while True:
        open_scopes = {
            scope: [layer for layer in fitting if layer.name not in matched]
            for scope, fitting in candidates.items()
            if scope not in matches
        }
        open_scopes = {scope: fitting for scope, fitting in open_scopes.items() if fitting}
        if not open_scopes:
            return matches
        certain = (scope for scope, fitting in open_scopes.items() if len(fitting) == 1)
        scope = next(certain, next(iter(open_scopes)))
        fitting = open_scopes[scope]
        layer = next((layer for layer in fitting if layer.name != scope), fitting[0])
        matches[scope] = layer
        matched.add(layer.name)


def _fits(scope: str, layer: str) -> bool:
    return scope == layer or re.fullmatch(rf"{re.escape(layer)}_\d+", scope) is not None


def _new_name(name: str, layers: Mapping[str, str]) -> str:
    mirrored = _MIRRORED if name.startswith(_MIRRORED) else ""
    parts = name.removeprefix(_MIRRORED).split("/")
    path = ""
    for place, part in enumerate(parts[:-1]):
        path = f"{path}/{part}" if path else part
        parts[place] = layers.get(path, part)
    return mirrored + "/".join(parts)


def _unique(renamed: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """The renamings without those that would give two nodes the same name."""
    changed = {old: new for old, new in renamed.items() if old != new}
    kept = {name for name in names if name not in changed}
    unique: dict[str, str] = {}
    for old, new in changed.items():
        if new not in kept:
            unique[old] = new
            kept.add(new)
    return unique
