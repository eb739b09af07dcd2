"""Count the parameters of a SavedModel; needs no TensorFlow.

python examples/parameters_of_saved_model.py FOLDER
python examples/parameters_of_saved_model.py          (a tiny model, written here as text)
"""

import sys
import tempfile
from pathlib import Path

import tfprof

VARIABLE = """
    node {{
      name: "{name}" op: "VarHandleOp"
      attr {{
        key: "shape" value {{ shape {{ dim {{ size: {rows} }} dim {{ size: {columns} }} }} }}
      }}
    }}
"""
MODEL = """
saved_model_schema_version: 1
meta_graphs {{
  meta_info_def {{ tags: "serve" }}
  graph_def {{ {variables} }}
}}
"""


def write_tiny_model(folder: Path) -> None:
    """A SavedModel of two layers, as ``saved_model.pbtxt``."""
    variables = VARIABLE.format(name="encoder/kernel", rows=784, columns=128)
    variables += VARIABLE.format(name="decoder/kernel", rows=128, columns=10)
    folder.joinpath("saved_model.pbtxt").write_text(MODEL.format(variables=variables))


def print_parameters(model: Path) -> None:
    """One line for each variable, then the sum."""
    report = tfprof.params(model)
    for row in sorted(report.rows, key=lambda row: -(row.params or 0)):
        print(f"{row.params or 0:>12,}  {row.name}")
    print(f"{report.total:>12,}  in all")


def main() -> None:
    """Count those of the model that is given, or of a tiny one."""
    if len(sys.argv) > 1:
        print_parameters(Path(sys.argv[1]))
        return
    with tempfile.TemporaryDirectory() as folder:
        write_tiny_model(Path(folder))
        print_parameters(Path(folder))


if __name__ == "__main__":
    main()
