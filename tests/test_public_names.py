"""Public names and signatures are those that are written down: changing one is a decision.

``pytest tests/test_public_names.py --update-golden`` writes them anew; read the difference.
"""

import importlib.util
from pathlib import Path

from .public_names import public_lines

GOLDEN = Path(__file__).with_name("data") / "public_names.txt"


def test_public_names_and_signatures_are_those_written_down(request):
    names = list(public_lines())
    if request.config.getoption("--update-golden"):
        assert importlib.util.find_spec("keras"), "write them where Keras is installed"
        GOLDEN.write_text("".join(f"{line}\n" for line in names), "utf-8")
    wanted = GOLDEN.read_text("utf-8").splitlines()
    if importlib.util.find_spec("keras") is None:  # callbacks are classes of Keras
        ours = ("tfprof.keras.", "tfprof.capture.KerasCallback")
        wanted = [line for line in wanted if not line.startswith(ours)]
    assert names == wanted
