"""``open_checkpoint``: variables by name, and their values."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Final

from tfprof.core.wire import messages as pb
from tfprof.core.wire.parsing import parse
from tfprof.errors import MalformedProfileError, UsageError
from tfprof.files.checkpoint.dtypes import Array, dtype_name
from tfprof.files.checkpoint.locate import locate
from tfprof.files.checkpoint.stored import Format, Store, StoredTensor
from tfprof.files.remote.path import AnyPath

OBJECT_GRAPH: Final = "_CHECKPOINTABLE_OBJECT_GRAPH"
"""Key of TensorFlow 2's object graph; it is not a variable."""

VALUE_SUFFIX: Final = "/.ATTRIBUTES/VARIABLE_VALUE"
"""End of the keys of variables in checkpoints of TensorFlow 2."""


@dataclass(frozen=True, slots=True)
class CheckpointVariable:
    """A variable of a checkpoint.

    Attributes:
        name: Its key.
        dtype: TensorFlow's name of its type, such as ``"float32"``.
        shape: Its shape.
        n_bytes: Bytes of its values, for texts those in the file; None if unknown until they are
            read (texts of the first format).
        full_name: Name of the variable in its program, which TensorFlow 2 stores beside the
            key; empty if it is not known.
        type_number: Number of its type, a ``DataType`` of TensorFlow.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    n_bytes: int | None
    full_name: str = ""
    type_number: int = 0

    @property
    def short_name(self) -> str:
        """Its key without the end that TensorFlow 2 gives to keys of variables."""
        return self.name.removesuffix(VALUE_SUFFIX)

    @property
    def n_values(self) -> int:
        """How many values it has."""
        return prod(self.shape)


class Checkpoint:
    """A checkpoint: its content is known, and values are read on request.

    Get one from ``open_checkpoint``.

    Attributes:
        path: Its prefix, or its file.
        format: ``"V2"``, an index with shards, or the older ``"V1"``.
    """

    def __init__(self, path: AnyPath, store: Store, *, recover: bool = False) -> None:
        self.path = path
        self.format: Format = store.format
        self._store = store
        self._recover = recover

    def __repr__(self) -> str:
        return f"<Checkpoint {str(self.path)!r}: {len(self.variables)} variables, {self.format}>"

    @cached_property
    def variables(self) -> tuple[CheckpointVariable, ...]:
        """All variables, by name.

        Raises:
            MalformedProfileError: TensorFlow 2's record of names in programs is damaged.
        """
        names, _ = self._names_in_programs
        tensors = self._store.tensors
        return tuple(
            _variable(tensors[key], names.get(key, ""))
            for key in sorted(tensors)
            if key != OBJECT_GRAPH
        )

    @cached_property
    def damage(self) -> str:
        """Why names in programs are unknown, if they are damaged and ``recover`` is set.

        Raises:
            MalformedProfileError: As for ``variables``.
        """
        return self._names_in_programs[1]

    @cached_property
    def missing_files(self) -> tuple[AnyPath, ...]:
        """Missing files of the checkpoint; values in them cannot be read."""
        return self._store.missing_files()

    def find(self, name: str) -> CheckpointVariable | None:
        """The variable of a name, or None.

        Args:
            name: A key, with or without ``/.ATTRIBUTES/VARIABLE_VALUE``, or else a name in the
                program; ``:0`` at its end is ignored. A name in the program that several
                variables share finds none.
        """
        plain = name.removesuffix(":0")
        for known in (name, plain, plain + VALUE_SUFFIX):
            variable = self._by_name.get(known)
            if variable is not None:
                return variable
        return None

    def read(self, name: str, verify: bool = True) -> Array:
        """The values of a variable.

        Args:
            name: As for ``find``.
            verify: Compare checksums with the stored ones.

        Returns:
            A new array of the variable's shape. bfloat16 and smaller floats come as float32, int4
            and smaller as (u)int8, texts as bytes in an array of objects.

        Raises:
            UsageError: There is no such variable.
            InputError: A file is missing, or the values are resources or variants.
            MalformedProfileError: They are damaged: a checksum differs, or a file is cut off.
        """
        variable = self.find(name)
        if variable is None:
            raise UsageError(f"{self.path}: there is no variable {name!r} in this checkpoint")
        return self._store.read(variable.name, verify=verify)

    @cached_property
    def _by_name(self) -> dict[str, CheckpointVariable]:
        by_name: dict[str, CheckpointVariable | None] = {}
        for variable in self.variables:
            if variable.full_name:
                known = variable.full_name in by_name
                by_name[variable.full_name] = None if known else variable
        by_name |= {variable.name: variable for variable in self.variables}
        return {name: variable for name, variable in by_name.items() if variable is not None}

    @cached_property
    def _names_in_programs(self) -> tuple[dict[str, str], str]:
        """Names in the program by key, and the reason if they are damaged."""
        try:
            return self._full_names(), ""
        except MalformedProfileError as error:
            if not self._recover:
                raise
            return {}, str(error)

    def _full_names(self) -> dict[str, str]:
        """Names in the program by key; none if the shard that holds them is missing."""
        if OBJECT_GRAPH not in self._store.tensors or self.missing_files:
            return {}
        stored = self._store.read(OBJECT_GRAPH, verify=True)
        source = f"{self.path}: {OBJECT_GRAPH}"
        if stored.size != 1 or not isinstance(stored.flat[0], bytes):
            return {}
        graph = parse(pb.TrackableObjectGraph, stored.flat[0], source=source)
        return {
            attribute.checkpoint_key: attribute.full_name
            for node in graph.nodes
            for attribute in node.attributes
        }


def open_checkpoint(path: str | os.PathLike[str], *, recover: bool = False) -> Checkpoint:
    """Open a checkpoint of TensorFlow, without TensorFlow.

    Args:
        path: Its prefix (``model.ckpt-100``), one of its files, the state file ``checkpoint``, or
            a folder: then the checkpoint that its state file names, the only one, or the one with
            the highest number. A folder may also be a SavedModel.
        recover: Go on without the names in the program where these are damaged;
            ``Checkpoint.damage`` then has the reason.

    Raises:
        UsageError: The argument is not a path, or the folder holds several checkpoints.
        InputError: There is no checkpoint, or it cannot be read, is something else or is
            damaged.
    """
    return Checkpoint(*locate(path), recover=recover)


def _variable(tensor: StoredTensor, full_name: str) -> CheckpointVariable:
    dtype = dtype_name(tensor.type_number)
    return CheckpointVariable(
        tensor.name, dtype, tensor.shape, tensor.n_bytes, full_name, tensor.type_number
    )
