"""Names that are the same each time a program is traced.

TensorFlow numbers functions and captured tensors by counters of the process.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

_COUNTED_NAME = re.compile(r"(?:__(?:inference|forward|backward)_)?(?P<name>.+?)(?:_\d+)*")
_REDUNDANT_ARGUMENT = re.compile(r"_\d+(?=___redundant_placeholder)")
"""The counter in the names of arguments that the condition or body of a loop does not use."""

_PASSING_ATTRS = (
    "_gradient_op_type",
    "api_implements",
    "backward_function_name",
    "forward_function_name",
)
"""Attributes with names of the running process, which have counters or random parts."""


def unused(name: str, taken: Iterable[str]) -> str:
    """The name, or with ``_1``, ``_2``… if it is taken.

    Args:
        name: The name.
        taken: Names in use, in a container with a fast ``in``.
    """
    number, free = 0, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free


def keep_called_functions(definition: Any) -> None:
    """Drop functions that are never called, and give the others names without counters.

    Args:
        definition: A GraphDef of TensorFlow's; it changes.
    """
    functions = definition.library.function
    library = {function.signature.name: function for function in functions}
    new_names: dict[str, str] = {}
    taken: set[str] = set()
    waiting = [(node.op, node.attr) for node in definition.node]
    for op, attrs in waiting:  # grows by the nodes of each function that is called
        for name in [op, *(reference.name for reference in _references(attrs))]:
            if name not in library or name in new_names:
                continue
            match = _COUNTED_NAME.fullmatch(name)
            new_names[name] = unused(match["name"] if match else name, taken)
            taken.add(new_names[name])
            waiting += [(node.op, node.attr) for node in library[name].node_def]
    order = {name: place for place, name in enumerate(new_names)}
    functions.sort(key=lambda function: order.get(function.signature.name, len(order)))
    del functions[len(order) :]
    for node in [*definition.node, *(node for each in functions for node in each.node_def)]:
        node.op = new_names.get(node.op, node.op)
        for reference in _references(node.attr):
            reference.name = new_names.get(reference.name, reference.name)
        _drop(node.attr)
    for function in functions:
        function.signature.name = new_names[function.signature.name]
        _drop(function.attr)
        _rename_arguments(function)
    definition.library.ClearField("gradient")
    definition.library.ClearField("registered_gradients")


def _rename_arguments(function: Any) -> None:
    new_names: dict[str, str] = {}
    taken = {argument.name for argument in function.signature.input_arg}
    for argument in function.signature.input_arg:
        name = _REDUNDANT_ARGUMENT.sub("", argument.name)
        if name != argument.name:
            new_names[argument.name] = argument.name = unused(name, taken)
            taken.add(argument.name)
    if new_names:
        for node in function.node_def:
            node.input[:] = [new_names.get(tensor, tensor) for tensor in node.input]
        for result, tensor in function.ret.items():
            function.ret[result] = new_names.get(tensor, tensor)


def _references(attrs: Any) -> Iterator[Any]:
    for key in sorted(attrs):
        value = attrs[key]
        if value.HasField("func"):
            yield value.func
        elif value.HasField("list"):
            yield from value.list.func


def _drop(attrs: Any) -> None:
    for name in _PASSING_ATTRS:
        if name in attrs:
            del attrs[name]


def name_captures(definition: Any, captured: set[str], layer_of: dict[str, str]) -> None:
    """Give captured tensors names without the number that differs from trace to trace.

    Args:
        definition: A GraphDef of TensorFlow's; its names change.
        captured: Names of the nodes for tensors outside the graph.
        layer_of: A value for each node by its name; these names change, too.
    """
    taken = {node.name for node in definition.node}
    new_names: dict[str, str] = {}
    for node in definition.node:
        scope, _, last = node.name.rpartition("/")
        if node.name in captured and last.isdigit():
            name = unused(f"{scope}/captured" if scope else "captured", taken)
            taken.add(name)
            if node.name in layer_of:
                layer_of[name] = layer_of.pop(node.name)
            new_names[node.name] = node.name = name
    for node in definition.node:
        if "_class" in node.attr:  # where to place it: next to a node with such a name
            del node.attr["_class"]
        if any(_producer(tensor) in new_names for tensor in node.input):
            node.input[:] = [_renamed(tensor, new_names) for tensor in node.input]


def _producer(tensor: str) -> str:
    return tensor.removeprefix("^").partition(":")[0]


def _renamed(tensor: str, new_names: dict[str, str]) -> str:
    name = _producer(tensor)
    return tensor.replace(name, new_names[name], 1) if name in new_names else tensor
