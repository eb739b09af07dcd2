import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "protos" / "generate.py"


@pytest.fixture
def generate():
    pytest.importorskip("grpc_tools")
    spec = importlib.util.spec_from_file_location("protos_generate", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_shipped_files_are_fresh(generate, capsys):
    assert generate.main(["--check"]) == 0, capsys.readouterr().out


def test_check_names_stale_files_and_writes_nothing(generate, capsys, monkeypatch):
    stale = generate.WIRE / "no-such-file.pyi"
    monkeypatch.setattr(generate, "STUBS", stale)
    assert generate.main(["--check"]) == 1
    assert "no-such-file.pyi is stale" in capsys.readouterr().out
    assert not stale.exists()


def test_stubs_are_python(generate):
    text = generate.StubWriter(generate.compile_protos()).text()
    compile(text, "messages.pyi", "exec")
    assert "class GraphDef(Message):" in text
    assert "    def node(self) -> RepeatedCompositeFieldContainer[NodeDef]: ..." in text


def test_unknown_argument(generate):
    assert generate.main(["--what"]) == 2
