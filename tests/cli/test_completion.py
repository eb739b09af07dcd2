"""Completion scripts, asked in the shells that they are for."""

import subprocess
import sys
from dataclasses import replace

import pytest

from tfprof.cli.commands.completion import SHELLS
from tfprof.cli.completion_scripts import SCRIPTS
from tfprof.cli.reference import (
    ArgumentReference,
    CommandReference,
    OptionReference,
    ProgramReference,
    program_reference,
)
from tfprof.cli.registry import COMMANDS

from .conftest import environment
from .shells import inserted, need, offers

pytestmark = [pytest.mark.slow, pytest.mark.one_engine]

INTERACTIVE = ["bash", "zsh"]
HEAVY = ("numpy", "google.protobuf", "rich", "tensorflow", "prompt_toolkit", "jinja2")
HOSTILE = r"""It's [a] "b": `c` $(d) $e \f {g} (h)* ~i #j !k; l|m & <n> \[o\] %p"""
FILES = ("a.pb", "my run.pb", "data.json")


def option(names, kind="none", choices=(), metavar="X", text="Help.", repeats=False):
    return OptionReference(
        tuple(names.split("/")), "" if kind == "none" else metavar, kind, choices, repeats,
        "Result", text,
    )  # fmt: skip


PATHS = ArgumentReference("PATH...", "file", (), True, "Input", "Paths.")
NAMES = ArgumentReference("NAMES", "text", (), True, "Input", "Names.")
SHELL = ArgumentReference("SHELL", "choice", SHELLS, False, "Input", "Which.")
OPTIONS = (
    option("--graph_path", "file"),
    option("--run_meta_path", "files", repeats=True),
    option("--demo"),
    option("--classic/--no-classic"),
    option("--max_depth", "text", text=HOSTILE),
    option("--max_rows", "text", metavar="[A:]N"),
    option("--account_all", "bool", ("true", "false")),
    option("--select", "choices", ("bytes", "micros", "params"), repeats=True),
    option("--output", "output"),
    option("-o/--outfile", "file"),
    option("--format", "choice", ("text", "table", "json"), text=HOSTILE),
    option("--folder", "folder"),
)


def named(name, arguments, options):
    return CommandReference(name, f"{name}: {HOSTILE}", "", (), arguments, options, ())


@pytest.fixture(scope="module")
def reference():
    names = ("op", "scope", "completion", "show", "pick")
    first = ArgumentReference("COMMAND", "command", names, True, "Commands", "")
    return ProgramReference(
        "1.0",
        named("", (first,), (option("--version"), *OPTIONS)),
        (
            named("op", (PATHS,), OPTIONS),
            named("scope", (PATHS,), OPTIONS),
            named("completion", (SHELL,), (option("--force"),)),
            named("show", (replace(PATHS, is_repeatable=False), NAMES), ()),
            named("pick", (SHELL, PATHS), (option("--from", "file"),)),
        ),
    )


@pytest.fixture
def script(request, reference, tmp_path):
    """The script of the shell that the test is for, in a folder with some files."""
    for name in FILES:
        (tmp_path / name).touch()
    (tmp_path / "runs").mkdir()
    path = tmp_path / "script"
    path.write_text(SCRIPTS[request.getfixturevalue("shell")](reference), encoding="utf-8")
    return path


def candidates(shell, script, line):
    """What is offered, without what bash is told besides."""
    return [word for word in offers(shell, script, line) if not word.startswith("compopt")]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("tfprof ", ["completion", "op", "pick", "scope", "show"]),
        ("tfprof sc", ["scope"]),
        ("tfprof --vers", ["--version"]),
        ("tfprof --demo --max_d", ["--max_depth"]),
        ("tfprof op --fo", ["--folder", "--format"]),
        ("tfprof op -fo", ["-folder", "-format"]),
        ("tfprof op --max", ["--max_depth", "--max_rows"]),
        ("tfprof op --max-", ["--max-depth", "--max-rows"]),
        ("tfprof op -max", ["-max_depth", "-max_rows"]),
        ("tfprof op --no-c", ["--no-classic"]),
        ("tfprof op --unheard", []),
        ("tfprof op -max_depth 4 --max-rows=3 --select bytes --fo", ["--folder", "--format"]),
        ("tfprof op --format ", ["json", "table", "text"]),
        ("tfprof op -format t", ["table", "text"]),
        ("tfprof op a.pb --format j", ["json"]),
        ("tfprof op --max_depth ", []),
        ("tfprof op --output tim", ["timeline:outfile="]),
        ("tfprof completion ", ["bash", "fish", "zsh"]),
        ("tfprof completion --f", ["--force"]),
        ("tfprof --graph_path a.pb completion --f", ["--force"]),
        ("tfprof -select bytes completion z", ["zsh"]),
        ("tfprof --graph_path completion op --fo", ["--folder", "--format"]),
    ],
)
def test_offers(shell, script, line, expected):
    assert candidates(shell, script, line) == expected


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("line", "before", "expected"),
    [
        ("tfprof op --format=t", "--format=", ["table", "text"]),
        ("tfprof op -format=j", "-format=", ["json"]),
        ("tfprof op --account_all=f", "--account_all=", ["false"]),
        ("tfprof op --select mi", "", ["micros"]),
        ("tfprof op --select micros,p", "micros,", ["params"]),
        ("tfprof op -select=micros,b", "-select=micros,", ["bytes"]),
        ("tfprof op --select micros,mi", "micros,", []),
    ],
)
def test_offers_behind_what_is_there(shell, script, line, before, expected):
    """Shells differ in how much of the word they show."""
    found = candidates(shell, script, line)
    assert [word.removeprefix(before).rpartition(",")[2] for word in found] == expected


@pytest.mark.parametrize("shell", ["zsh", "fish"])
@pytest.mark.parametrize(
    ("line", "before"),
    [
        ("tfprof op --graph_path a", ""),
        ("tfprof op --graph_path=a", "--graph_path="),
        ("tfprof op a", ""),
        ("tfprof show a", ""),
        ("tfprof --demo a", ""),
        ("tfprof op -o a", ""),
        ("tfprof op --run_meta_path data.json,a", "data.json,"),
        ("tfprof op --output timeline:outfile=a", "timeline:outfile="),
        ("tfprof op --output=dot:outfile=a", "--output=dot:outfile="),
    ],
)
def test_offers_files(shell, script, line, before):
    found = offers(shell, script, line)
    assert [word.removeprefix(before) for word in found] == ["a.pb"]


@pytest.mark.parametrize("shell", INTERACTIVE)
def test_arguments_have_their_places(shell, script):
    assert offers(shell, script, "tfprof pick --from a.pb b") == ["bash"]
    assert inserted(shell, script, "tfprof pick bash da\t") == ["pick", "bash", "data.json"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_offers_folders_only(shell, script):
    assert [word.rstrip("/") for word in offers(shell, script, "tfprof op --folder ")] == ["runs"]


@pytest.mark.parametrize("shell", INTERACTIVE)
@pytest.mark.parametrize(
    ("typed", "arguments"),
    [
        ("tfprof sc\t", ["scope"]),
        ("tfprof op --form\tj\t", ["op", "--format", "json"]),
        ("tfprof op -form\tj\t", ["op", "-format", "json"]),
        ("tfprof op --max-d\t4", ["op", "--max-depth", "4"]),
        ("tfprof op --format=j\tx", ["op", "--format=json", "x"]),
        ("tfprof op --graph_path my\t", ["op", "--graph_path", "my run.pb"]),
        ('tfprof op --graph_path "my\t', ["op", "--graph_path", "my run.pb"]),
        ("tfprof op --graph_path=my\t", ["op", "--graph_path=my run.pb"]),
        ("tfprof op my\t", ["op", "my run.pb"]),
        ("tfprof da\t", ["data.json"]),
        ("tfprof op --folder r\t", ["op", "--folder", "runs"]),
        ("tfprof op --run_meta_path a.pb,my\t", ["op", "--run_meta_path", "a.pb,my run.pb"]),
        ("tfprof op -select mi\t,b\t", ["op", "-select", "micros,bytes"]),
        ("tfprof op --select=mi\t,b\t", ["op", "--select=micros,bytes"]),
        ("tfprof op --output tim\tda\t", ["op", "--output", "timeline:outfile=data.json"]),
        ("tfprof op --output=tim\tda\t", ["op", "--output=timeline:outfile=data.json"]),
        ("tfprof op --account_all --form\tj\t", ["op", "--account_all", "--format", "json"]),
        ("tfprof op --account_all=f\t a.pb --dem\t", ["op", "--account_all=false", "a.pb",
                                                     "--demo"]),
        ("tfprof op -- my\t", ["op", "--", "my run.pb"]),
        ("tfprof op --dem x\x02\x02\t", ["op", "--demo", "x"]),  # the cursor before the blank
        ("A=1 tfprof op --dem\t", ["op", "--demo"]),
        ("true | tfprof   op --output=tim\ta", ["op", "--output=timeline:outfile=a"]),
    ],
)  # fmt: skip
def test_inserts(shell, script, typed, arguments):
    """An option may get its value with a blank or with ``=``, a folder its slash or not."""
    found = [part.rstrip("/") for word in inserted(shell, script, typed) for part in _parts(word)]
    assert found == [part for word in arguments for part in _parts(word)]


def _parts(word):
    return word.split("=", 1) if word.startswith("-") else [word]


def test_bash_needs_no_colon_or_equals_among_its_breaks(reference, tmp_path):
    need("bash")
    script = tmp_path / "script"
    script.write_text(SCRIPTS["bash"](reference) + "COMP_WORDBREAKS=$' \\t\\n'\n")
    (tmp_path / "data.json").touch()
    typed = "tfprof op --output=tim\tda\t --format=j\t"
    assert inserted("bash", script, typed) == [
        "op", "--output=timeline:outfile=data.json", "--format=json",
    ]  # fmt: skip


def test_fish_shows_help_texts_as_they_are(reference, tmp_path):
    need("fish")
    script = tmp_path / "script"
    script.write_text(SCRIPTS["fish"](reference))
    program = "source $argv[1]; complete -C 'tfprof op --form'; complete -C 'tfprof sco'"
    done = subprocess.run(
        ["fish", "--no-config", "-c", program, str(script)],
        capture_output=True, text=True, check=True, env=environment(HOME=str(tmp_path)),
    )  # fmt: skip
    assert done.stdout.splitlines() == [f"--format\t{HOSTILE}", f"scope\tscope: {HOSTILE}"]


@pytest.mark.parametrize("shell", SHELLS)
def test_syntax(shell, reference, tmp_path):
    need(shell)
    for number, described in enumerate((reference, program_reference())):
        script = tmp_path / f"script{number}"
        script.write_text(SCRIPTS[shell](described), encoding="utf-8")
        done = subprocess.run([shell, "-n", str(script)], capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("name", COMMANDS)
def test_every_flag_of_every_command_is_offered(shell, name, tmp_path):
    described = program_reference()
    script = tmp_path / "script"
    script.write_text(SCRIPTS[shell](described), encoding="utf-8")
    offered = {word.rstrip("=") for word in offers(shell, script, f"tfprof {name} -")}
    chosen = next(entry for entry in described.commands if entry.name == name)
    flags = {spelling for option in chosen.options for spelling in option.names}
    assert flags - offered == set()


def test_the_command_prints_or_writes_the_script(call, tmp_path):
    wanted = SCRIPTS["bash"](program_reference())
    printed = call("completion", "bash")
    assert (printed.exit_code, printed.stdout) == (0, wanted)
    path = tmp_path / "tfprof"
    assert call("completion", "bash", "-o", path).exit_code == 0
    assert path.read_text("utf-8") == wanted
    assert call("completion", "bash", "-o", path).exit_code == 2
    assert call("completion", "bash", "-o", path, "--force").exit_code == 0
    assert call("completion", "bash", "-o", "").exit_code == 2
    refused = call("completion", "tcsh")
    assert refused.exit_code == 2
    assert "not one of bash, zsh, fish" in refused.stderr


def test_the_help_says_where_scripts_go(call):
    text = call("completion", "--help").stdout
    assert "bash  add to ~/.bashrc: source <(tfprof completion bash)\n" in text
    assert "fish  tfprof completion fish -o ~/.config/fish/completions/tfprof.fish\n" in text


@pytest.mark.parametrize("arguments", [["--help"], ["bash"]])
def test_the_command_imports_nothing_heavy(arguments):
    program = (
        "import sys\nfrom tfprof.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "completion", *arguments],
        capture_output=True, text=True, encoding="utf-8", env=environment(), check=True,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "[]"
