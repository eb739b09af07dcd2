"""Values of variables → ``TFProfTensorProto``."""

from __future__ import annotations

from typing import Final

import numpy as np

from tfprof.core.wire import messages as pb
from tfprof.files.checkpoint.variable_values import VariableValue
from tfprof.views.result import ViewTree

MOST_VALUES: Final = 100_000
"""How many values a message holds of a variable; above, the original warns that it may halt."""

_CLASSIC_TYPES: Final = ("float32", "float64", "int32", "int64", "string")
_INT64_MAX: Final = (1 << 63) - 1


def tensor_values(tree: ViewTree) -> dict[int, pb.TFProfTensorProto]:
    """The values that a view shows, by row.

    Variables that are cut at ``MOST_VALUES`` add a notice to the profile; classic mode cuts none.

    Raises:
        InputError: They cannot be read.
    """
    if not tree.shows_values:
        return {}
    messages = {}
    n_cut = 0
    for row in range(len(tree)):
        value = tree.value_of(row)
        if value is None:
            continue
        classic = tree.options.classic
        messages[row] = _classic_message(value) if classic else _message(value)
        n_cut += not classic and value.flat.size > MOST_VALUES
    tree.profile.notices.set(
        "values-cut",
        f"variables have more values than the first {MOST_VALUES} in the returned message; "
        "tfprof.open_checkpoint reads all",
        n_cut,
    )
    return messages


def _message(value: VariableValue) -> pb.TFProfTensorProto:
    """Values as they are; those that are neither real numbers nor texts are written as texts."""
    message = pb.TFProfTensorProto(dtype=value.type_number)
    values = value.flat[:MOST_VALUES]
    if values.dtype == np.object_:
        message.value_str.extend(_texts(values.tolist()))
    elif values.dtype.kind == "f":
        message.value_double.extend(values.astype(np.float64).tolist())
    elif values.dtype.kind == "c" or (values.size and values.max() > _INT64_MAX):
        message.value_str.extend(map(str, values.tolist()))
    else:
        message.value_int64.extend(values.astype(np.int64).tolist())
    return message


def _classic_message(value: VariableValue) -> pb.TFProfTensorProto:
    """Floats with six digits, as ``tfprof_tensor.h`` writes them; nothing of other types."""
    message = pb.TFProfTensorProto(dtype=value.type_number)
    if value.dtype not in _CLASSIC_TYPES:
        return message
    if value.dtype == "string":
        message.value_str.extend(_texts(value.flat.tolist()))
    elif value.dtype.startswith("float"):
        message.value_double.extend(float(f"{number:.6g}") for number in value.flat.tolist())
    else:
        message.value_int64.extend(value.flat.tolist())
    return message


def _texts(values: list[bytes]) -> list[str]:
    return [text.decode("utf-8", "backslashreplace") for text in values]
