"""``tfprof.open_run`` and ``tfprof.tools``."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import tfprof
from tests.captures.tools.recorded import TUTORIALS, recorded
from tfprof.captures.all_tools import TABLE_TOOLS

NAMES = [tool.name.replace("-", "_") for tool in TABLE_TOOLS]


def test_the_readme_way():
    run = tfprof.open_run(str(TUTORIALS / "two-gpus"))
    found = tfprof.tools.kernel_stats(run)
    assert list(found.tables) == ["kernels"]
    assert found.notes == ()
    assert found.to_rows()[0]["kernel_name"] == "ampere_sgemm_128x64_nn"
    assert found.to_dict()["tool"] == "kernel-stats"
    assert found.to_gviz()["cols"][0] == {"id": "rank", "label": "Rank", "type": "number"}


@pytest.mark.parametrize("tool", TABLE_TOOLS, ids=lambda tool: tool.name)
def test_every_command_is_a_function(tool):
    name = tool.name.replace("-", "_")
    function = getattr(tfprof.tools, name)
    assert name in tfprof.tools.__all__
    assert name in dir(tfprof.tools)
    parameters = inspect.signature(function).parameters
    assert {"run", "host", "classic"} <= set(parameters)
    assert inspect.getdoc(function)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("capture", ["input-bound", "two-gpus", "two-workers", "xla"])
def test_every_tool_answers_for_every_capture(name, capture):
    run = recorded(capture)
    found = getattr(tfprof.tools, name)(run, host=run.hosts[0].name)
    assert found.tool.replace("-", "_") == name
    assert found.to_dict()["verdict"] or found.notes


@pytest.mark.parametrize("name", tfprof.tools.__all__)
def test_public_names_are_documented(name):
    assert inspect.getdoc(getattr(tfprof.tools, name))


def test_type_checkers_find_the_public_names():
    tree = ast.parse(Path(tfprof.tools.__file__).read_text())
    imported = {
        (alias.name, node.module)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module.startswith("tfprof.captures.")
        for alias in node.names
    }
    assert imported == set(tfprof.tools._HOME.items())
    assert sorted(tfprof.tools._HOME) == sorted(tfprof.tools.__all__)


def test_names_that_do_not_exist():
    with pytest.raises(AttributeError, match=r"'tfprof\.tools' has no attribute 'nothing'"):
        tfprof.tools.nothing  # noqa: B018


def test_importing_the_tools_imports_nothing_heavy():
    program = (
        "import sys, tfprof.tools\n"
        "print(sorted({'numpy', 'google.protobuf', 'rich'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")
