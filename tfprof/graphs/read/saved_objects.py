"""Variables of an exported program: those of its model, not those of optimizers and metrics.

TensorFlow 2 writes the Python objects of a program beside its graph (``SavedObjectGraph``), and
TensorFlow 1 writes collections of ``VariableDef``. Both have all variables. The model's are found
as follows:

* Keras' ``model.export`` and ``tf_keras``' ``model.save`` list the model's variables in the root
  object, as ``variables``, and those that train as ``trainable_variables``.
* In everything else, ``tf.saved_model.save`` of a Keras 3 model included, optimizers and metrics
  are objects with variables of their own, which are left out.

The seed of a random number generator is never a parameter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tfprof.core.wire import messages as pb
from tfprof.core.wire.parsing import parse
from tfprof.graphs.model.program import Variable
from tfprof.graphs.model.tensors import INTEGER_TYPES
from tfprof.graphs.model.variable_names import VARIABLE_OPS, belongs_to_optimizer
from tfprof.graphs.read.attr_values import base_type, plain_shape

TRAINABLE_COLLECTION = "trainable_variables"
"""Name of the collection, and of the list in an object, of the variables that train."""

_MODEL_COLLECTIONS = ("model_variables", TRAINABLE_COLLECTION)
_ALL_COLLECTION = "variables"  # GraphKeys.GLOBAL_VARIABLES

_OPTIMIZER_IDENTIFIERS = frozenset({"optimizer", "experimentalOptimizer"})
_METRIC_IDENTIFIER = "_tf_keras_metric"
_OPTIMIZER_COUNTERS = frozenset({"_iterations", "iter"})
"""Attributes in which optimizers of Keras 3 and of tf_keras count their steps; their objects are
written under a general name."""


def variables_of(meta_graph: pb.MetaGraphDef) -> list[Variable] | None:
    """The model's variables, each once, in the order of the file.

    Returns:
        None if there are neither objects nor collections with variables.

    Raises:
        MalformedProfileError: A collection is broken.
    """
    objects = meta_graph.object_graph_def.nodes
    if any(node.WhichOneof("kind") == "variable" for node in objects):
        return _Objects(objects).variables()
    collections = meta_graph.collection_def
    if _ALL_COLLECTION in collections or TRAINABLE_COLLECTION in collections:
        return _variables_of_collections(meta_graph)
    return None


class _Objects:
    """The objects of a program, as a graph."""

    def __init__(self, nodes: Iterable[pb.SavedObject]) -> None:
        self._nodes = list(nodes)

    def variables(self) -> list[Variable]:
        root = self._children(0)
        if "variables" in root and TRAINABLE_COLLECTION in root:
            places = self._listed(root["variables"])
            trainable = set(self._listed(root[TRAINABLE_COLLECTION]))
        else:
            foreign = set(self._foreign_variables())
            kinds = [node.WhichOneof("kind") for node in self._nodes]
            places = [n for n, kind in enumerate(kinds) if kind == "variable" and n not in foreign]
            trainable = self._trained_variables(places)
        return [
            self._variable(place, place in trainable)
            for place in places
            if not _is_seed(self._nodes[place].variable)
        ]

    def _children(self, place: int) -> dict[str, int]:
        """Objects by the attributes that hold them; broken references are left out."""
        return {
            child.local_name: child.node_id
            for child in self._nodes[place].children
            if 0 <= child.node_id < len(self._nodes)
        }

    def _listed(self, place: int) -> list[int]:
        """Variables that are elements of a list, each once."""
        children = dict.fromkeys(self._children(place).values())
        return [each for each in children if self._nodes[each].WhichOneof("kind") == "variable"]

    def _variable(self, place: int, trainable: bool) -> Variable:
        saved = self._nodes[place].variable
        name = saved.name or f"variable {place}"
        return Variable(name, plain_shape(saved.shape), base_type(saved.dtype), trainable)

    def _trained_variables(self, places: Iterable[int]) -> set[int]:
        """Variables marked as trainable that optimizers, if they list their variables, also train.

        Keras 3 does not change the mark of a variable when its layer is frozen.
        """
        trained = {place for place in places if self._nodes[place].variable.trainable}
        known = [
            set(self._listed(children["_trainable_variables"]))
            for children in map(self._children, self._optimizers())
            if "_trainable_variables" in children
        ]
        return trained & set().union(*known) if any(known) else trained

    def _optimizers(self) -> Iterator[int]:
        for place, node in enumerate(self._nodes):
            if node.WhichOneof("kind") == "user_object" and (
                node.user_object.identifier in _OPTIMIZER_IDENTIFIERS
                or any(child.local_name in _OPTIMIZER_COUNTERS for child in node.children)
            ):
                yield place

    def _foreign_variables(self) -> Iterator[int]:
        """Variables of optimizers and metrics."""
        for node in self._nodes:
            yield from (slot.slot_variable_node_id for slot in node.slot_variables)
        for place in self._optimizers():
            for name, child in self._children(place).items():
                if name != "_trainable_variables":
                    yield child
                    yield from self._listed(child)
        for place, node in enumerate(self._nodes):
            if node.user_object.identifier == _METRIC_IDENTIFIER:
                yield from self._listed(place)


def _is_seed(variable: pb.SavedVariable) -> bool:
    """Whether it is the state of a ``keras.random.SeedGenerator``, by its name and type."""
    last = variable.name.rpartition("/")[2]
    return last.startswith("seed_generator_state") and variable.dtype in INTEGER_TYPES


def _variables_of_collections(meta_graph: pb.MetaGraphDef) -> list[Variable]:
    """Variables that collections name; shapes and types are those of their nodes.

    ``variables`` has the optimizer's, too. So a variable that does not train counts only if its
    name does not contain one that does, as in ``dense/kernel/Adam``, and if it is not a counter.
    """
    trainable = set(collected_variables(meta_graph, TRAINABLE_COLLECTION))
    wanted = [name for key in _MODEL_COLLECTIONS for name in collected_variables(meta_graph, key)]
    wanted += [
        name
        for name in collected_variables(meta_graph, _ALL_COLLECTION)
        if name in trainable or not belongs_to_optimizer(name, trainable)
    ]
    known = TRAINABLE_COLLECTION in meta_graph.collection_def
    nodes = {node.name: node for node in meta_graph.graph_def.node if node.op in VARIABLE_OPS}
    return [
        _declared(name, nodes.get(name), name in trainable if known else None)
        for name in dict.fromkeys(wanted)
    ]


def collected_variables(meta_graph: pb.MetaGraphDef, key: str, label: str = "") -> list[str]:
    """Names of the nodes that hold the variables of a collection; errors begin with a label."""
    collections: Mapping[str, pb.CollectionDef] = meta_graph.collection_def
    if key not in collections:
        return []
    source = f"{label}collection {key}"
    return [
        parse(pb.VariableDef, data, source=source).variable_name.partition(":")[0]
        for data in collections[key].bytes_list.value
    ]


def _declared(name: str, node: pb.NodeDef | None, trainable: bool | None) -> Variable:
    attrs = {} if node is None else node.attr
    shape = plain_shape(attrs["shape"].shape) if "shape" in attrs else None
    dtype = base_type(attrs["dtype"].type) if "dtype" in attrs else 0
    return Variable(name, shape, dtype, trainable)
