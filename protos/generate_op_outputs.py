"""Write ``tfprof/graphs/read/op_outputs.tsv``: names and types of the outputs of TensorFlow's ops.

    python protos/generate_op_outputs.py            write the file
    python protos/generate_op_outputs.py --check    compare only; exit 1 when the file is stale

Needs TensorFlow; users of tfprof never run this. Function bodies name outputs as
``node:output:index``, so a reader without TensorFlow has to know which slot that is.

A line is an op type, a tab, ``!`` if the op does more than compute its outputs (it is stateful),
and its outputs: ``name=type``, where the type is a ``DataType``
number, or an attribute with its default (``out_type:3``, ``T``); ``*`` and an attribute that says
how many there are (``T*N``); ``*Tout`` for an attribute that lists the types.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

TABLE = Path(__file__).resolve().parent.parent / "tfprof" / "graphs" / "read" / "op_outputs.tsv"


def output_text(output: Any, defaults: dict[str, Any]) -> str:
    """One output of an op."""
    if output.type_list_attr:
        return f"{output.name}=*{output.type_list_attr}"
    kind = output.type_attr or str(output.type)
    if output.type_attr in defaults:
        kind += f":{defaults[output.type_attr]}"
    return f"{output.name}={kind}*{output.number_attr}" if output.number_attr else (
        f"{output.name}={kind}"
    )  # fmt: skip


def line_of(op: Any) -> str:
    """The line of an op."""
    defaults = {
        attr.name: attr.default_value.type for attr in op.attr if attr.HasField("default_value")
    }
    outputs = " ".join(output_text(output, defaults) for output in op.output_arg)
    return f"{op.name}\t{'!' if op.is_stateful else ''}{outputs}"


def table() -> str:
    """The whole table, by op type."""
    from tensorflow.core.framework import op_def_pb2
    from tensorflow.python.client import pywrap_tf_session

    data = pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList())
    ops = op_def_pb2.OpList.FromString(data).op
    return "".join(sorted(f"{line_of(op)}\n" for op in ops))


def main() -> int:
    """Write or check."""
    text = table()
    if "--check" in sys.argv[1:]:
        stale = not TABLE.is_file() or TABLE.read_text(encoding="utf-8") != text
        if stale:
            print(f"{TABLE.name} is stale; run python protos/generate_op_outputs.py")
        return int(stale)
    TABLE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
