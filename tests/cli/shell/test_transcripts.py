"""Sessions of the original's documentation: its commands, and what tfprof answers.

A transcript holds lines as they are typed behind ``tfprof>``, each followed by what it prints;
what goes to stderr is marked. ``pytest --update-golden`` writes the answers anew: read the
difference.
"""

import json
from pathlib import Path

import pytest

import tfprof
from tfprof.cli.commands.shell import NOT_IN_A_SHELL
from tfprof.cli.registry import find_command, sections
from tfprof.cli.shell.shell import Shell

TRANSCRIPTS = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))
PROMPT = "tfprof> "


@pytest.fixture(scope="module")
def profiler():
    files = tfprof.demo_files()
    return tfprof.open_profile(files.graph, files.run_meta, files.op_log)


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_transcript(path, profiler, tmp_path, monkeypatch, capfd, request):
    monkeypatch.chdir(tmp_path)
    recorded = path.read_text("utf-8")
    shell = Shell(lambda: profiler, sections(without=NOT_IN_A_SHELL), find_command)
    answered = recorded.partition("\n")[0] + "\n"
    for line in recorded.splitlines():
        if line.startswith(PROMPT.rstrip()):
            shell.run(line.removeprefix(PROMPT.rstrip()).removeprefix(" "))
            printed = capfd.readouterr()
            answered += f"{line}\n{printed.out}"
            answered += "".join(f"(stderr) {text}\n" for text in printed.err.splitlines())
    if request.config.getoption("--update-golden"):
        path.write_text(answered, encoding="utf-8", newline="\n")
    assert answered == recorded or request.config.getoption("--update-golden")


def test_there_are_transcripts_of_every_view():
    text = "".join(path.read_text("utf-8") for path in TRANSCRIPTS)
    for command in ("scope", "graph", "op", "code", "advise", "set", "help"):
        assert f"{PROMPT}{command}" in text


def test_flops_in_a_session_are_those_of_the_file(profiler, capfd, call):
    Shell(lambda: profiler, sections(without=NOT_IN_A_SHELL), find_command).run(
        "flops --format json --by type"
    )
    session = json.loads(capfd.readouterr().out)
    once = json.loads(call("flops", "--demo", "--format", "json", "--by", "type").stdout)
    assert {name: session[name] for name in ("flops", "macs")} == {
        name: once[name] for name in ("flops", "macs")
    }
    assert session["coverage"] == once["coverage"] == 1
