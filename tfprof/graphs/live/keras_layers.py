"""The layers of a Keras model, and the one that is being called."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import Any

from tfprof.graphs.live.running_tensorflow import tensorflow_module
from tfprof.graphs.live.stable_names import unused
from tfprof.graphs.live.traced_graph import NamedVariable, TracedLayer
from tfprof.graphs.model.tensors import PartialShape
from tfprof.graphs.model.variable_names import enclosing

_STATE_OF_KERAS_3 = "keras.src.backend.common.global_state"
_STATE_OF_TF_KERAS = "tf_keras.src.engine.base_layer_utils"


def keras_3_state(name: str) -> Any | None:
    """An attribute of Keras 3's state of this thread; None if it is not set."""
    module = sys.modules.get(_STATE_OF_KERAS_3)
    return None if module is None else module.get_global_attribute(name)


class Layers:
    """A model and all layers inside it.

    Attributes:
        all: The model, then its layers in preorder, each once.
        paths: Path of each of them, in the same order.
    """

    def __init__(self, model: Any) -> None:
        self.all: list[Any] = []
        self.paths: list[str] = []
        self._parents: list[int] = []
        self._path_of: dict[int, str] = {}
        taken: set[str] = set()
        waiting = [(model, -1)]
        while waiting:
            layer, parent = waiting.pop()
            if id(layer) in self._path_of:
                continue
            path = unused(
                f"{self.paths[parent]}/{layer.name}" if parent >= 0 else layer.name, taken
            )
            taken.add(path)
            place = len(self.all)
            self._path_of[id(layer)] = path
            self.all.append(layer)
            self.paths.append(path)
            self._parents.append(parent)
            children = layer._flatten_layers(include_self=False, recursive=False)
            waiting += [(child, place) for child in reversed(list(children))]

    def current(self) -> str | None:
        """Path of the innermost layer that is being called in this thread, if any."""
        for scope in reversed(keras_3_state("name_scope_stack") or ()):
            path = self._path_of.get(id(scope.caller))
            if path is not None:
                return path
        module = sys.modules.get(_STATE_OF_TF_KERAS)
        layer = module.call_context().layer if module is not None else None
        return self._path_of.get(id(layer))

    def in_graph(self, nodes: Iterable[str]) -> dict[str, str]:
        """Which layer made each node of a graph of TensorFlow 1, by the scopes of their outputs."""
        scopes: dict[str, str] = {}
        for layer, path in zip(self.all, self.paths, strict=True):
            name = re.compile(re.escape(layer.name) + r"(_\d+)?")
            for tensor in _graph_outputs(layer):
                parts = tensor.op.name.split("/")
                for place, part in enumerate(parts[:-1]):
                    if name.fullmatch(part):
                        scopes["/".join(parts[: place + 1])] = path
        nearest = {node: next((s for s in enclosing(node) if s in scopes), "") for node in nodes}
        return {node: scopes[scope] for node, scope in nearest.items() if scope}

    def tree(self, variables: Iterable[NamedVariable]) -> TracedLayer:
        """The layers as plain data."""
        names = {id(each.variable): each.name for each in variables}
        children: list[list[TracedLayer]] = [[] for _ in self.all]
        inside: list[set[int]] = [set() for _ in self.all]
        for place in reversed(range(len(self.all))):
            layer = self.all[place]
            own = [weight for weight in layer.weights if id(weight) not in inside[place]]
            tree = TracedLayer(
                self.paths[place],
                layer.name,
                type(layer).__name__,
                _output_shapes(layer),
                tuple(dict.fromkeys(names[id(each)] for each in own if id(each) in names)),
                tuple(reversed(children[place])),
            )
            parent = self._parents[place]
            if parent < 0:
                return tree
            children[parent].append(tree)
            inside[parent].update(map(id, layer.weights))
        raise AssertionError("a model is its own root")


def _graph_outputs(layer: Any) -> list[Any]:
    """Outputs of all calls of a layer in a graph of TensorFlow 1."""
    nest = tensorflow_module().nest
    return [
        tensor
        for node in getattr(layer, "_inbound_nodes", ())
        for tensor in nest.flatten(node.outputs)
        if hasattr(tensor, "op")
    ]


def _output_shapes(layer: Any) -> tuple[PartialShape, ...] | None:
    """Shapes of the outputs of a layer's first call; None if Keras does not keep them."""
    nodes = getattr(layer, "_inbound_nodes", None)
    outputs = getattr(nodes[0], "outputs", None) if nodes else getattr(layer, "outputs", None)
    if outputs is None:
        return None
    shapes = [tensor.shape for tensor in tensorflow_module().nest.flatten(outputs)]
    return tuple(None if getattr(s, "rank", 0) is None else tuple(s) for s in shapes)
