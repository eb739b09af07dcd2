"""Completion, asked in the shells that it is for."""

import os
import shlex
import subprocess
import sys

import pytest

from tfprof.cli.completion.protocol import SHELLS, offers_at
from tfprof.cli.program import cli
from tfprof.cli.reference import program_reference
from tfprof.cli.registry import COMMANDS

from .conftest import ROOT, environment
from .shells import inserted, need, offers

pytestmark = [pytest.mark.slow, pytest.mark.one_engine]

INTERACTIVE = ["bash", "zsh"]
HEAVY = ("numpy", "google.protobuf", "rich", "tensorflow", "prompt_toolkit", "jinja2")
HOSTILE = r"""It's [a] "b": `c` $(d) $e \f {g} (h)* ~i #j !k; l|m & <n> \[o\] %p"""
FILES = ("a.pb", "my run.pb", "data.json")


def script_of(shell):
    return SHELLS[shell](cli, {}, "tfprof", "_TFPROF_COMPLETE").source()


@pytest.fixture
def folder(tmp_path):
    """A folder with some files, and the program beside it."""
    folder = tmp_path / "home"
    (folder / "runs").mkdir(parents=True)
    for name in FILES:
        (folder / name).touch()
    program(folder, f'PYTHONPATH={shlex.quote(str(ROOT))} exec {sys.executable} -m tfprof "$@"')
    return folder


def program(folder, text):
    path = folder.parent / "bin" / "tfprof"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def script(request, folder):
    """The script of the shell that the test is for, in that folder."""
    path = folder / "script"
    path.write_text(script_of(request.getfixturevalue("shell")), encoding="utf-8")
    return path


def candidates(shell, script, line):
    """The offered words, without instructions for bash."""
    return [word for word in offers(shell, script, line) if not word.startswith("compopt")]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("tfprof ", sorted(COMMANDS)),
        ("tfprof sc", ["scope"]),
        ("tfprof --vers", ["--version"]),
        ("tfprof --demo --max_d", ["--max_depth"]),
        ("tfprof op --fo", ["--force", "--format"]),
        ("tfprof op -fo", ["-force", "-format"]),
        ("tfprof op --max", ["--max_depth", "--max_rows"]),
        ("tfprof op --max-", ["--max-depth", "--max-rows"]),
        ("tfprof op -max", ["-max_depth", "-max_rows"]),
        ("tfprof op --no-c", ["--no-cache", "--no-classic"]),
        ("tfprof op --unheard", []),
        ("tfprof op -max_depth 4 --max-rows=3 --select bytes --fo", ["--force", "--format"]),
        ("tfprof op --format ", ["csv", "html", "json", "table", "text", "tree"]),
        ("tfprof op -format t", ["table", "text", "tree"]),
        ("tfprof op a.pb --format j", ["json"]),
        ("tfprof op --max_depth ", []),
        ("tfprof op --output tim", ["timeline:outfile="]),
        ("tfprof completion ", ["bash", "fish", "zsh"]),
        ("tfprof completion --f", ["--force"]),
        ("tfprof --graph_path a.pb completion --f", ["--force"]),
        ("tfprof -select bytes completion z", ["zsh"]),
        ("tfprof --graph_path completion op --fo", ["--force", "--format"]),
    ],
)
def test_offers(shell, script, line, expected):
    assert candidates(shell, script, line) == expected


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("line", "before", "expected"),
    [
        ("tfprof op --format=t", "--format=", ["table", "text", "tree"]),
        ("tfprof op -format=j", "-format=", ["json"]),
        ("tfprof op --account_displayed_op_only=f", "--account_displayed_op_only=", ["false"]),
        ("tfprof op --select mi", "", ["micros"]),
        ("tfprof op --select micros,pa", "micros,", ["params"]),
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
        ("tfprof flops a", ""),
        ("tfprof op -o a", ""),
        ("tfprof op --run_meta_path data.json,a", "data.json,"),
        ("tfprof op --output timeline:outfile=a", "timeline:outfile="),
        ("tfprof op --output=dot:outfile=a", "--output=dot:outfile="),
    ],
)
def test_offers_files(shell, script, line, before):
    found = offers(shell, script, line)
    assert [word.removeprefix(before) for word in found] == ["a.pb"]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("line", ["completion bash ", "checkpoint a.pb ", "flops a.pb "])
def test_no_more_arguments_than_there_are(shell, script, line):
    assert offers(shell, script, f"tfprof {line}") == []


def test_bash_completes_paths_itself_where_they_stand_alone(tmp_path, folder):
    script = folder / "script"
    script.write_text(script_of("bash"))
    assert offers("bash", script, "tfprof op --graph_path a") == ["compopt default"]
    assert offers("bash", script, "tfprof op --graph_path=a") == ["compopt default"]
    assert offers("bash", script, "tfprof op --run_meta_path data.json,my") == [
        "data.json,my\\ run.pb"
    ]


@pytest.mark.parametrize("shell", SHELLS)
def test_folders(shell, script, folder):
    """No option takes one yet, but the protocol has them."""
    program(folder, r"printf 'folder\t--to=\tr\n'")
    found = [
        word.rstrip("/").removeprefix("--to=") for word in offers(shell, script, "tfprof --to=r")
    ]
    assert found == (["compopt dirnames"] if shell == "bash" else ["runs"])


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
        ("tfprof --demo da\t", ["--demo", "data.json"]),
        ("tfprof op --graph_path r\t", ["op", "--graph_path", "runs"]),
        ("tfprof op --run_meta_path a.pb,my\t", ["op", "--run_meta_path", "a.pb,my run.pb"]),
        ("tfprof op -select mi\t,b\t", ["op", "-select", "micros,bytes"]),
        ("tfprof op --select=mi\t,b\t", ["op", "--select=micros,bytes"]),
        ("tfprof op --output tim\tda\t", ["op", "--output", "timeline:outfile=data.json"]),
        ("tfprof op --output=tim\tda\t", ["op", "--output=timeline:outfile=data.json"]),
        ("tfprof op --account_d\t--form\tj\t",
         ["op", "--account_displayed_op_only", "--format", "json"]),
        ("tfprof op -account_displayed_op_only=f\t a.pb --dem\t",
         ["op", "-account_displayed_op_only=false", "a.pb", "--demo"]),
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


def test_bash_needs_no_colon_or_equals_among_its_breaks(folder):
    script = folder / "script"
    script.write_text(script_of("bash") + "COMP_WORDBREAKS=$' \\t\\n'\n")
    typed = "tfprof op --output=tim\tda\t --format=j\t"
    assert inserted("bash", script, typed) == [
        "op", "--output=timeline:outfile=data.json", "--format=json",
    ]  # fmt: skip


def test_fish_shows_help_texts_as_they_are(folder):
    need("fish")
    script = folder / "script"
    script.write_text(script_of("fish"))
    answer = folder / "answer"
    answer.write_text(f"whole\t--format\t{HOSTILE}\n")
    program(folder, f"cat {shlex.quote(str(answer))}")
    asking = "source $argv[1]; complete -C 'tfprof op --form'"
    path = f"{folder.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["fish", "--no-config", "-c", asking, str(script)],
        capture_output=True, text=True, check=True, env=environment(HOME=str(folder), PATH=path),
    )  # fmt: skip
    assert done.stdout.splitlines() == [f"--format\t{HOSTILE}"]


@pytest.mark.parametrize("shell", SHELLS)
def test_syntax(shell, script):
    need(shell)
    done = subprocess.run([shell, "-n", str(script)], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_flag_of_every_command_is_offered(name):
    offered = {offer.value for style in ("-", "--") for offer in offers_at([name], style)}
    chosen = next(entry for entry in program_reference().commands if entry.name == name)
    flags = {spelling for option in chosen.options for spelling in option.names}
    assert flags - offered == set()


def test_options_say_what_they_do():
    offers = {offer.value: offer.about for offer in offers_at(["op"], "--")}
    assert offers["--no-classic"] == "The opposite of --classic"
    assert offers["--max_depth"] == "Show no more than this many levels"


def test_a_tab_reads_no_profile():
    """Names of ops are for the session, which has read them."""
    assert offers_at(["scope", "-show_name_regexes"], "c") == []
    assert offers_at(["scope", "-step"], "") == []


def asked(line, shell):
    """What a process answers, and what it has imported."""
    code = (
        "import sys\nfrom tfprof.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    variables = {"COMP_WORDS": line, "COMP_CWORD": "", "_TFPROF_COMPLETE": f"{shell}_complete"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8",
        env=environment(**variables), check=True,
    )  # fmt: skip
    assert done.stderr == ""
    *answer, heavy = done.stdout.splitlines()
    return answer, heavy


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("line", ["tfprof ", "tfprof op --ma", "tfprof overview -", "tfprof dot a"])
def test_a_tab_imports_nothing_heavy(line, shell):
    answer, heavy = asked(line, shell)
    assert answer
    assert heavy == "[]"


def test_the_command_prints_or_writes_the_script(call, tmp_path):
    wanted = script_of("bash")
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


@pytest.mark.parametrize("shell", SHELLS)
def test_click_prints_the_script_too(shell, process):
    printed = process(_TFPROF_COMPLETE=f"{shell}_source").stdout
    assert printed.rstrip("\n") == script_of(shell).rstrip("\n")  # click 8.1 adds a line


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
