"""Keras layers → name scopes of their own names.

TensorFlow makes the name scopes of a graph unique, and Keras opens the scope of a layer more than
once. So the layers ``dense`` and ``dense_1`` become the scopes ``dense_1`` and ``dense_1_2``, which
misleads. The layers of the model show which scope belongs to which layer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import TypeAlias

from tfprof.graphs.live.function_graphs import FunctionBody, LayerTree

_MIRRORED = "gradient_tape/"
"""Scope of gradient ops; it repeats the scopes of the forward ops."""


_Scopes: TypeAlias = "dict[str, _Scopes]"
"""Name scopes and what is inside each, in the order in which they appear."""


def layer_renaming(
    models: Sequence[LayerTree],
) -> Callable[[FunctionBody], Mapping[str, str]]:
    """How to rename the nodes of a function body, so that layers are scopes.

    Args:
        models: The layers to look for.

    Returns:
        A function from a body to new names by old name; nodes that keep their name are left out.
    """

    def rename(body: FunctionBody) -> Mapping[str, str]:
        names = [node.name for node in body.nodes]
        layers = scopes_of_layers(names, models)
        renamed = {name: _new_name(name, layers) for name in names} if layers else {}
        return _unique(renamed, names)

    return rename


def scopes_of_layers(names: Sequence[str], models: Sequence[LayerTree]) -> dict[str, str]:
    """Layer name of each scope that belongs to a layer, by the scope's path.

    Args:
        names: Node names, in the order of the graph.
        models: The layers to look for; those of a layer are looked for in its scope only.
    """
    tree: _Scopes = {}
    for name in names:
        scopes = tree
        for part in name.removeprefix(_MIRRORED).split("/")[:-1]:
            scopes = scopes.setdefault(part, {})
    layer_of_scope: dict[str, str] = {}
    waiting = [("", tree, list(models))]
    while waiting:
        outer, scopes, layers = waiting.pop()
        matches = _match(list(scopes), layers)
        for name, inner in scopes.items():
            layer = matches.get(name)
            if layer is not None:
                layer_of_scope[outer + name] = layer.name
            below = layers if layer is None else layer.children
            waiting.append((f"{outer}{name}/", inner, below))
    return layer_of_scope


def _match(scopes: list[str], layers: list[LayerTree]) -> dict[str, LayerTree]:
    """The layer of each scope; a layer has one scope at most.

    A scope has the layer's name, with or without a number after it. If that fits several layers,
    scopes with only one possible layer are matched first; then the number counts as an added one.
    """
    candidates = {
        scope: [
            layer for layer in layers if re.fullmatch(rf"{re.escape(layer.name)}(_\d+)?", scope)
        ]
        for scope in scopes
    }
    matches: dict[str, LayerTree] = {}
    taken: set[str] = set()
    while True:
        open_scopes = {
            scope: [layer for layer in possible if layer.name not in taken]
            for scope, possible in candidates.items()
            if scope not in matches
        }
        open_scopes = {scope: possible for scope, possible in open_scopes.items() if possible}
        if not open_scopes:
            return matches
        certain = (scope for scope, possible in open_scopes.items() if len(possible) == 1)
        scope = next(certain, next(iter(open_scopes)))
        possible = open_scopes[scope]
        layer = next((layer for layer in possible if layer.name != scope), possible[0])
        matches[scope] = layer
        taken.add(layer.name)


def _new_name(name: str, layers: Mapping[str, str]) -> str:
    mirrored = _MIRRORED if name.startswith(_MIRRORED) else ""
    *scopes, last = name.removeprefix(_MIRRORED).split("/")
    paths = accumulate(scopes, "{}/{}".format)
    renamed = [layers.get(path, scope) for path, scope in zip(paths, scopes, strict=True)]
    return mirrored + "/".join([*renamed, last])


def _unique(renamed: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """Without renamings that would give two nodes one name."""
    changed = {old: new for old, new in renamed.items() if old != new}
    kept = {name for name in names if name not in changed}
    unique: dict[str, str] = {}
    for old, new in changed.items():
        if new not in kept:
            unique[old] = new
            kept.add(new)
    return unique
