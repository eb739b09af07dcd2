"""The pages made from the commands: nothing is missing, nothing is stale, and man can show it."""

import ast
import functools
import re
import shutil
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

import tfprof.errors
from tfprof.cli.completion.protocol import SHELLS
from tfprof.cli.main import EXIT_INTERRUPTED
from tfprof.cli.program import EXIT_USAGE
from tfprof.cli.reference import (
    ArgumentReference,
    CommandReference,
    OptionReference,
    Paragraph,
    ProgramReference,
    program_reference,
)
from tfprof.cli.registry import COMMANDS

pytestmark = [pytest.mark.slow, pytest.mark.one_engine, pytest.mark.documentation]

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
HOSTILE = r""".'\" \fB "a" 'b' -c `d` ~e ^f \(g [h] | *i* _j_ <k> µs"""


@pytest.fixture
def docs(monkeypatch):
    """The scripts of the documentation can be imported."""
    monkeypatch.syspath_prepend(str(DOCS))


@pytest.fixture
def generator(docs, monkeypatch):
    """The script that writes the pages, which are made once for all tests."""
    import generate_reference

    made = functools.partial(once, generate_reference.pages)
    monkeypatch.setattr(generate_reference, "pages", made)
    return generate_reference


@functools.cache
def once(make):
    return make()


@pytest.fixture
def pages(docs):
    """The manual pages of this version."""
    from man_pages import man_pages

    return man_pages(program_reference())


def spelt(text):
    """A name as in the source of a manual page."""
    return text.replace("-", r"\-")


def test_the_page_is_fresh(generator, capsys):
    assert generator.main(["--check"]) == 0, capsys.readouterr().out


def test_a_stale_page_is_named_and_written(generator, tmp_path, capsys):
    assert generator.main(["--what"], tmp_path) == 2
    assert generator.main(["--check"], tmp_path) == 1
    assert "stale: columns.md, commands.md, modules.md; run: " in capsys.readouterr().out
    assert generator.main([], tmp_path) == 0
    assert generator.main(["--check"], tmp_path) == 0
    (tmp_path / "modules.md").write_text("old")
    assert generator.main(["--check"], tmp_path) == 1
    assert "stale: modules.md; run: " in capsys.readouterr().out


CLASSIC_ONLY = {
    "bns_address", "command_line", "description", "host_id", "index", "link", "message", "parent",
    "severity", "start_time", "tip_type",
}  # fmt: skip
"""Columns of the reference's own JSON, or of files of older profilers."""


MAKE_COLUMNS = {"Column", "text", "flag", "count", "amount", "_ms"}


def declared_columns():
    """Ids of all columns that tools declare as literals."""
    for folder in ("run", "facts", "overview", "tools", "trace"):
        for path in sorted((ROOT / "tfprof" / "captures" / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                is_call = isinstance(node, ast.Call) and node.args
                is_column = is_call and getattr(node.func, "id", "") in MAKE_COLUMNS
                if is_column and isinstance(node.args[0], ast.Constant):
                    yield node.args[0].value


def test_every_column_is_on_the_page():
    page = (DOCS / "columns.md").read_text("utf-8")
    shown = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    declared = set(declared_columns())
    assert len(declared) > 150
    assert declared - shown - CLASSIC_ONLY == set()
    rows = re.findall(r"^\| `\w+` \| (\S*) +\| (.+?) \| (.*) \|$", page, re.MULTILINE)
    assert len(rows) > 400
    of_time = [clock.strip() for unit, _, clock in rows if unit in ("ps", "ns", "us", "µs", "ms")]
    assert set(of_time) == {"host", "device", "both", "of the row"}


def test_a_column_without_a_meaning_or_a_clock_is_an_error(docs):
    import columns_page

    from tfprof.captures.run.columns import amount
    from tfprof.captures.run.table import Column

    busy = amount("busy_us", "Busy", "us", "time in which a|b ran", "host")
    assert columns_page._row(busy) == "| `busy_us` | us | time in which a\\|b ran | host |\n"
    with pytest.raises(KeyError, match="new_us has no meaning"):
        columns_page._row(Column("new_us", "New", unit="us", clock="host"))
    with pytest.raises(KeyError, match="old_us has no clock"):
        columns_page._row(amount("old_us", "Old", "us", "time in which it ran"))


def test_every_module_says_what_it_is_for(generator):
    page = generator.pages()["modules.md"].decode()
    rows = re.findall(r"^\| `([\w.]+)` \| (.*) \|$", page, re.MULTILINE)
    sources = [path for path in (ROOT / "tfprof").rglob("*.py") if path.name != "__init__.py"]
    assert sum(name.endswith(".py") for name, _ in rows) == len(sources) > 500
    assert [name for name, about in rows if len(about.split()) < 2] == []


def test_manual_pages_are_written_for_a_release(docs, pages, tmp_path, capsys):
    import man_pages

    folder = tmp_path / "man"
    assert man_pages.main([str(folder)]) == 0
    assert {path.name: path.read_text("utf-8") for path in folder.iterdir()} == pages
    assert man_pages.main([]) == man_pages.main(["--help"]) == 2
    assert "man_pages.py FOLDER" in capsys.readouterr().out


def test_manuals_and_scripts_are_installed():
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    listed = re.findall(r'"share/[\w/.-]+" = \["([^"]+)"\]', text)
    scripts = {f"tfprof/cli/completion/{completer.script}" for completer in SHELLS.values()}
    assert set(listed) == scripts | {"docs/man/*.1"}
    assert [name for name in scripts if not (ROOT / name).is_file()] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_flag_is_on_the_pages(pages, name):
    command = next(entry for entry in program_reference().commands if entry.name == name)
    manual = pages[f"tfprof-{name}.1"]
    page = (DOCS / "commands.md").read_text("utf-8")
    head, *parts = re.split(r"^## (.*)\n", page, flags=re.MULTILINE)
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    described = head + sections[name]
    if "(#views)" in sections[name]:
        described += sections["views"]
    for option in command.options:
        for flag in option.names:
            assert rf"\fB{spelt(flag)}\fR" in manual
            assert re.search(rf"`{flag}[ `]", described)
    for example in command.examples:
        assert example in sections[name]
    assert rf"\fBtfprof\-{spelt(name)}\fR(1)" in pages["tfprof.1"]


def test_options_of_the_views_lead_to_their_page():
    page = (DOCS / "commands.md").read_text("utf-8")
    assert "[More](options.md#order_by) | `auto` |" in page
    assert "`--order_by TEXT`" in page
    assert page.count("`--order_by ") == 1


def test_a_command_with_some_options_of_the_views_says_which(docs, hostile):
    from commands_page import commands_page

    shared = [
        OptionReference((name,), "N", "text", (), False, "Result", "Help.", is_of_views=True)
        for name in ("--deep", "--wide")
    ]
    view = replace(hostile.commands[0], options=tuple(shared))
    other = replace(view, name="other", options=tuple(shared[:1]))
    page = commands_page(replace(hostile, commands=(view, other)))
    assert "of the [views](#views), but for `--wide N`.\n" in page
    assert page.count("| `--deep N` |") == 1


def test_every_exit_code_is_in_the_manual(docs):
    from man_pages import EXIT_STATUS

    codes = {
        error.exit_code
        for error in vars(tfprof.errors).values()
        if isinstance(error, type) and issubclass(error, tfprof.TfprofError)
    }
    assert codes | {0, EXIT_USAGE, EXIT_INTERRUPTED, 129, 143} == set(EXIT_STATUS)


NO_VARIABLES = {"HEAD", "SLURM"}
"""A commit of git, and the first part of names."""


def environment_variables():
    """Names in capitals in modules that look at the environment; others only hand on all of it."""
    name = re.compile(r"[A-Z][A-Z0-9]{3,}(_[A-Z0-9]+)*|[A-Z]{2,}(_[A-Z0-9]+)+")
    found = set()
    for path in (ROOT / "tfprof").rglob("*.py"):
        source = path.read_text("utf-8")
        if re.search(r"(?<!\*\*os\.)\benviron\b|\bgetenv\b|\.variables\b", source):
            nodes = list(ast.walk(ast.parse(source)))
            shown = {id(n.value) for n in nodes if getattr(n, "arg", "") == "metavar"}
            texts = {
                node.value for node in nodes
                if isinstance(node, ast.Constant) and isinstance(node.value, str)
                and id(node) not in shown
            }  # fmt: skip
            found |= {text for text in texts if name.fullmatch(text)}
    return {text for text in found - NO_VARIABLES if not hasattr(signal, text)}


def test_the_environment_variables_of_the_manual_are_those_that_are_read(pages):
    from man_pages import ENVIRONMENT

    read_by_click = {"PAGER"}
    assert set(ENVIRONMENT) == environment_variables() | read_by_click
    manual = pages["tfprof.1"]
    assert [name for name in ENVIRONMENT if f"\n\\fB{name}\\fR\n" not in manual] == []


@pytest.fixture
def manuals(docs, tmp_path):
    """The files of the manual pages."""
    import man_pages

    man_pages.main([str(tmp_path)])
    return sorted(tmp_path.iterdir())


@pytest.mark.skipif(shutil.which("mandoc") is None, reason="mandoc is not installed")
def test_mandoc_has_no_warnings(manuals):
    assert len(manuals) == len(COMMANDS) + 1
    done = subprocess.run(
        ["mandoc", "-T", "lint", "-W", "warning", *map(str, manuals)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_groff_has_no_warnings(manuals):
    for page in manuals:
        done = subprocess.run(
            ["groff", "-man", "-Tutf8", "-ww", str(page)],
            capture_output=True, text=True, encoding="utf-8", check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture
def hostile():
    option = OptionReference(
        ("--x",), "N", "text", (), False, "Result", f"{HOSTILE} [default: {HOSTILE}]"
    )
    argument = ArgumentReference("FILE", "file", (), False, "Input", HOSTILE)
    texts = (Paragraph(HOSTILE), Paragraph(f"{HOSTILE}\n{HOSTILE}", is_literal=True))
    command = CommandReference(
        "op", HOSTILE, "tfprof op FILE", texts, (argument,), (option,), (HOSTILE,)
    )
    program = CommandReference("", "All.", "tfprof COMMAND", (), (), (option,), ())
    return ProgramReference("1.0", program, (command,))


@pytest.mark.skipif(shutil.which("mandoc") is None, reason="mandoc is not installed")
def test_texts_are_shown_as_they_are(docs, hostile):
    from man_pages import man_pages

    source = man_pages(hostile)["tfprof-op.1"]
    assert source.isascii()
    shown = subprocess.run(
        ["mandoc", "-T", "utf8", "-O", "width=500", "-W", "warning"],
        input=source, capture_output=True, text=True, encoding="utf-8", check=True,
    ).stdout  # fmt: skip
    plain = re.sub(r".\x08", "", shown)
    # A name, a description, an argument, an option twice, two literal lines and an example.
    assert plain.count(HOSTILE) == 8


def test_texts_are_not_marks_in_the_page(docs, hostile):
    from commands_page import commands_page

    page = commands_page(hostile)
    assert r"\*i\* \_j\_ \<k\> µs" in page
    assert page.count(f"```text\n{HOSTILE}\n") == 2
    cells = [line for line in page.splitlines() if line.startswith("| `--x N`")]
    assert cells
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 4 for line in cells)
