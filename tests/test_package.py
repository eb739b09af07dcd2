"""What holds for the package as a whole."""

import ast
import doctest
import importlib
import importlib.util
import pkgutil
import re
import subprocess
import sys
import tokenize
from importlib import metadata
from pathlib import Path

import pytest

import tfprof

ROOT = Path(tfprof.__file__).parent
SOURCES = sorted(ROOT.rglob("*.py"))
MODULES = sorted(
    info.name
    for info in pkgutil.walk_packages([str(ROOT)], "tfprof.")
    if not info.name.endswith("__main__")
)
PARTS = sorted({name.split(".")[1] for name in MODULES})
BENCHMARKS = sorted((Path(__file__).parents[1] / "benchmarks").glob("*.py"))
MOST_LINES = 450


def relative(path):
    return path.relative_to(ROOT).as_posix()


def run_python(program):
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_importing_tfprof_imports_nothing_heavy():
    done = run_python(
        "import sys, tfprof\n"
        "heavy = {'numpy', 'google.protobuf', 'tensorflow', 'rich', 'click', 'jinja2',\n"
        "         'prompt_toolkit'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_profiling_never_imports_tensorflow():
    done = run_python(
        "import sys, tfprof\n"
        "profiler = tfprof.Profiler(tfprof.demo_files().graph)\n"
        "profiler.view('op')\n"
        "print('tensorflow' in sys.modules)\n"
    )
    assert done.stdout == "False\n"


def test_public_names():
    assert tfprof.__all__ == [
        "AdviceProto",
        "Checkpoint",
        "EmptyProfileError",
        "Finding",
        "FlopsReport",
        "GraphNodeProto",
        "InputError",
        "MalformedProfileError",
        "MissingDependencyError",
        "ModelSummary",
        "MultiGraphNodeProto",
        "Notice",
        "OpLogProto",
        "ParamsReport",
        "ProfileContext",
        "ProfileOptionBuilder",
        "Profiler",
        "ProfilerHook",
        "Symbolic",
        "TfprofError",
        "TfprofWarning",
        "Timeline",
        "UnknownFormatError",
        "UsageError",
        "ViewNode",
        "ViewTree",
        "__version__",
        "advise",
        "capture",
        "demo_files",
        "device_memory",
        "diff",
        "flops",
        "load",
        "merge_default_with_oplog",
        "open_checkpoint",
        "open_profile",
        "open_run",
        "params",
        "pprof_profile",
        "profile",
        "register_cost",
        "register_flops",
        "render_dot_file",
        "summary",
        "trace",
        "whatif",
        "write_op_log",
    ]


@pytest.mark.parametrize("name", [n for n in tfprof.__all__ if n != "__version__"])
def test_public_names_are_importable_and_documented(name):
    value = getattr(tfprof, name)
    assert name in dir(tfprof)
    if not name.endswith("Proto"):  # protobuf makes these classes
        assert value.__doc__.strip()
        for key, member in vars(value).items() if isinstance(value, type) else ():
            if not key.startswith("_") and (callable(member) or isinstance(member, property)):
                assert member.__doc__, f"{name}.{key}"


def test_names_that_do_not_exist():
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        tfprof.nothing  # noqa: B018


def test_each_module_has_a_docstring_and_is_short():
    """Ruff asks no docstring of a module with an underscore."""
    texts = {relative(path): path.read_text("utf-8") for path in SOURCES}
    assert [name for name, text in texts.items() if not ast.get_docstring(ast.parse(text))] == []
    assert [name for name, text in texts.items() if text.count("\n") >= MOST_LINES] == []


def docstrings(tree):
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return {
        node.body[0].lineno
        for node in ast.walk(tree)
        if isinstance(node, documented)
        and node.body
        and isinstance(node.body[0], ast.Expr)
        and isinstance(node.body[0].value, ast.Constant)
    }


LINKS_TO_READ = (
    "https://www.tensorflow.org/",
    "https://docs.jax.dev/",
    "https://json.schemastore.org/sarif-2.1.0.json",  # the name of a schema, which SARIF requires
)
"""Advice ends with the guide it comes from; nothing opens such a link by itself."""

NAMES_OF_FORMATS = ("https://www.speedscope.app/file-format-schema.json",)
"""Files say by such an address what they are; nothing opens it."""


def addresses_in_code(path):
    """Texts with an address, where they are neither documentation nor a link to read."""
    if not re.search(rb"https?://", path.read_bytes()):
        return []
    documentation = docstrings(ast.parse(path.read_text("utf-8")))
    with path.open("rb") as file:
        return [
            token.string
            for token in tokenize.tokenize(file.readline)
            if token.type != tokenize.COMMENT
            and token.start[0] not in documentation
            and token.type == tokenize.STRING
            and ("http://" in token.string or "https://" in token.string)
            and not any(link in token.string for link in (*LINKS_TO_READ, *NAMES_OF_FORMATS))
        ]


NEWER_THAN_3_10 = {
    "asyncio": {"Runner", "TaskGroup", "timeout"},
    "contextlib": {"chdir"},
    "datetime": {"UTC"},
    "enum": {"ReprEnum", "StrEnum"},
    "itertools": {"batched"},
    "tomllib": {"load", "loads"},
    "typing": {
        "LiteralString", "Never", "NotRequired", "Required", "Self", "TypeVarTuple", "Unpack",
        "assert_never", "assert_type", "override", "reveal_type",
    },
}  # fmt: skip


def test_no_module_imports_what_the_oldest_python_lacks():
    """Tests run on one Python. Imports in branches, as for types only, are not looked at."""
    assert metadata.metadata("tfprof")["Requires-Python"] == ">=3.10"
    found = [
        f"{relative(path)}: {node.module}.{name.name}"
        for path in SOURCES
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
        if name.name in NEWER_THAN_3_10.get(node.module or "", ())
    ]
    assert found == []


def test_no_code_holds_an_address_of_the_web():
    found = {relative(path): addresses_in_code(path) for path in SOURCES}
    assert {name: texts for name, texts in found.items() if texts} == {}


def test_no_test_imports_another():
    """What several share stands beside them, in a module of its own."""
    tests = Path(__file__).parent
    found = [
        path.relative_to(tests).as_posix()
        for path in sorted(tests.rglob("*.py"))
        if re.search(r"^\s*(from|import) \S*\btest_\w+", path.read_text("utf-8"), re.MULTILINE)
    ]
    assert found == []


NEEDS = {
    "tfprof.capture.keras_callback": "keras",
    "tfprof.ui.web.tensorboard_plugin": "tensorboard",
}
"""Packages that modules need to be imported at all."""


@pytest.mark.documentation
@pytest.mark.one_engine
@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_doctests(part):
    """What failed, and where, is printed."""
    failed = [
        name
        for name in MODULES
        if name.split(".")[1] == part
        and has_what_it_needs(name)
        and doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS).failed
    ]
    assert failed == []


def has_what_it_needs(module):
    """Whether a module can be imported: some are made of classes of packages that are extras."""
    package = NEEDS.get(module)
    return package is None or importlib.util.find_spec(package) is not None


def test_some_doctests_were_found():
    finder = doctest.DocTestFinder()
    examples = sum(
        len(t.examples) for t in finder.find(importlib.import_module("tfprof.core.columns.strings"))
    )
    assert examples == 3


def test_the_version_is_the_installed_one():
    assert tfprof.__version__ == metadata.version("tfprof")
    assert all(part.isdigit() for part in tfprof.__version__.split(".")[:2])


def test_the_package_is_typed():
    assert (ROOT / "py.typed").exists()


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.name)
def test_benchmarks_use_what_is_there(path):
    """They are not run here, as no time is tested; but they are to run."""
    missing = [
        f"{node.module}.{name.name}"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "tfprof"
        for name in node.names
        if not hasattr(importlib.import_module(str(node.module)), name.name)
        and f"{node.module}.{name.name}" not in MODULES
    ]
    assert missing == []
