"""Lines as they are typed, and what they print."""

import errno
import json
import os
import sys

import pytest

from tfprof.cli.options import CLI_DEFAULTS
from tfprof.cli.registry import COMMANDS
from tfprof.errors import InputError
from tfprof.options.parse import parse_options
from tfprof.views.show.tfprof_text import render_options

from ..conftest import GRAPH

INCOMPLETE = (
    "note: ops have no float operations in this report, because a shape they depend on is not "
    "fully known; add a step with run metadata, or give the graph static shapes\n"
)


def micros(told, line="op -order_by name --format json"):
    out, err, code = told(line)
    assert code == 0
    assert err in ("", INCOMPLETE)
    return {row["name"]: row["exec_micros"] for row in json.loads(out)["rows"]}["MatMul"]


def test_a_view_is_what_the_command_prints(told, call, graph, runs):
    out, err, code = told("op -select micros,occurrence -order_by micros")
    files = ["--graph_path", graph, "--run_meta_path", ",".join(runs)]
    once = call("op", *files, "-select", "micros,occurrence", "-order_by", "micros")
    assert (out, err, code) == (once.stdout, "", 0)


def test_options_are_for_one_command_unless_they_are_set(told):
    assert micros(told, "op -step 1 -order_by name --format json") == 30
    assert micros(told) == 20
    assert told("set -step 1 -select params")[0] == ""
    assert micros(told) == 30
    assert micros(told, "op -step 0 -order_by name --format json") == 10
    assert micros(told) == 30
    told("reset step")
    assert micros(told) == 20
    assert "params" in told("op")[0]
    told("reset")
    assert "params" not in told("op")[0]


@pytest.mark.parametrize(
    "line",
    ["step=1", " --step = 1", "-step=1", "set -step 1", "set --step=1", "set step 1", "set step=1",
     "set max_rows=3 step 1 color never", "step=1 # the second"],
)  # fmt: skip
def test_all_ways_to_set(told, line):
    assert told(line) == ("", "", 0)
    assert micros(told) == 30


def test_an_empty_line_shows_the_options(told):
    classic = render_options(parse_options(dict(CLI_DEFAULTS)))
    assert classic.startswith(f"{'-max_depth':<28}10\n")
    assert classic.count("\n") == 21
    ours = f"{'-static_float_ops':<28}false\n"
    assert told("")[0] == told("set")[0] == classic + ours
    told("set -max_depth 4 -select bytes,micros -account_displayed_op_only --format csv")
    changed = told("  ")[0]
    assert f"{'-max_depth':<28}4\n" in changed
    assert f"{'-select':<28}bytes,micros\n" in changed
    assert f"{'-account_displayed_op_only':<28}true\n" in changed
    assert f"{'-format':<28}csv\n" in changed


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("set -order_by nope", "unknown order_by value 'nope'"),
        ("order_by=nope", "unknown order_by value 'nope'"),
        ("set -max_depth x", "'x' is not a whole number"),
        ("set -select micros,nope", "unknown select attribute 'nope'"),
        ("set -show_name_regexes (", "regular expression '('"),
        ("set -outfile x", "unknown option '-outfile'"),
        ("set step", "option --step needs a value"),
        ("set stepp 1", "there is no option 'stepp' to set; did you mean step?"),
        ("stepp=1", "there is no option 'stepp' to set; did you mean step?"),
        ("set xyzzy", "there is no option 'xyzzy' to set; help set lists them all"),
        ("set step 1 2", "there is no option '2' to set"),
        ("reset stepp", "there is no option 'stepp' to reset; did you mean step?"),
        ("reset nope", "there is no option 'nope'"),
        ("opp", "no such command: 'opp'; did you mean 'op'?"),
        ("shell", "no such command: 'shell'"),
        ("op -nope 1", "unknown option '-nope'"),
        ("op -step 7", "7"),
        ("op --graph_path no/such", "no/such: cannot be read"),
        ("op 'a", "the quote ' at column 4 is not closed"),
        ("> x", "a command is missing"),
        ("help nope", "no such command: 'nope'"),
        ("code", "the code view needs call stacks"),
    ],
)
def test_what_is_wrong_is_reported_and_nothing_changes(told, shell, line, message):
    before = told("")[0]
    out, err, code = told(line)
    assert (out, code > 1) == ("", True)
    assert err.startswith("error: ")
    assert message in err
    assert told("")[0] == before
    assert not shell.is_over
    assert shell.exit_code == code


def test_lines_that_do_nothing(told):
    assert told("# op") == ("", "", 0)


@pytest.mark.parametrize(
    ("line", "shown"),
    [("pager=no", "false"), ("set pager 0", "false"), ("set no_pager", "false"),
     ("set --no-pager", "false"), ("set pager", "true"), ("pager=true", "true"),
     ("static_float_ops=yes", None), ("set static_float_ops max_depth 3", None)],
)  # fmt: skip
def test_switches_are_set_by_words(told, line, shown):
    assert told(line) == ("", "", 0)
    options = told("set")[0]
    if shown is None:
        assert f"{'-static_float_ops':<28}true\n" in options
    else:
        assert f"{'-pager':<28}{shown}\n" in options


def test_help_lists_everything(told):
    out = told("help")[0]
    assert all(f"\n  {name} " in out for name in COMMANDS if name not in ("shell", "completion"))
    assert all(f"\n  {name} " in out for name in ("set", "reset", "help", "quit"))
    assert max(map(len, out.splitlines())) <= 100
    assert told("help op")[0] == told("op -h")[0] == told("op --help")[0]
    assert told("op -h")[0] == told("help op")[0]
    assert "-max_depth" in told("help set")[0]
    assert told("help set")[0] == told("set -h")[0]


@pytest.mark.parametrize("line", ["quit", "exit", " quit "])
def test_leaving(told, shell, line):
    assert told(line) == ("", "", 0)
    assert shell.is_over


def test_results_go_to_files(told, tmp_path):
    shown = told("op -select micros")[0]
    assert told("op -select micros > 'my report.txt'") == ("", "", 0)
    assert (tmp_path / "my report.txt").read_text() == shown
    refused = told("op > 'my report.txt'")
    assert refused[2] == 2
    assert "exists already; --force overwrites it" in refused[1]
    assert told("op --format csv --force > 'my report.txt'")[2] == 0
    assert (tmp_path / "my report.txt").read_text().startswith("name,")
    assert "cannot be written" in told("op > no/such/folder")[1]
    assert told("op -o other.txt")[2] == 0
    assert (tmp_path / "other.txt").exists()


def test_a_tilde_is_the_home_of_the_user(told, tmp_path, monkeypatch):
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(tmp_path))
    (tmp_path / "g.pbtxt").write_text(GRAPH)
    assert told("op -select params > ~/a.txt")[2] == 0
    assert told("scope ~/g.pbtxt -select params -o ~/b.txt")[2] == 0
    assert told("scope --graph_path=~/g.pbtxt -select params -outfile=~/c.txt")[2] == 0
    assert (tmp_path / "a.txt").exists()
    assert "layer/y" in (tmp_path / "b.txt").read_text()
    assert (tmp_path / "b.txt").read_bytes() == (tmp_path / "c.txt").read_bytes()
    assert "~no_such_user_/a.txt: cannot be written" in told("op > ~no_such_user_/a.txt")[1]


@pytest.mark.skipif(os.name != "posix", reason="the programs are those of POSIX")
def test_results_go_to_programs(told):
    assert told("op | grep -c MatMul")[0] == "1\n"
    assert told("op | sed 's/MatMul/matmul/' | grep -q matmul")[2] == 0
    assert told("op | false")[2] == 1
    assert told("op -max_depth 3 | head -1")[2] == 0
    assert told("op | nosuchprogram_")[2] == 127
    out, err, code = told("op | cat \0")
    assert (out, code) == ("", 2)
    assert err.startswith("error: | cat \\x00: cannot be started: ")


def test_a_redirected_result_is_plain_text(told, tmp_path, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    told("op --color=never > out.txt")
    assert "MatMul  " in (tmp_path / "out.txt").read_text()


def test_commands_about_the_graph_know_the_session(told):
    assert told("flops")[2] == 0
    assert told("summary --format json")[2] == 0
    out = told("flops --format json")[0]
    assert json.loads(out)["coverage"] == 1
    assert told("convert -o saved.pb")[2] == 0
    assert json.loads(told("op saved.pb --format json")[0])["steps"] == [0, 1]
    assert told("timeline -o t.json -step 0")[2] == 0
    for line in ("timeline --view device", "pprof --view device"):
        assert "name the files again" in told(line)[1]


def test_an_interrupt_ends_the_command_only(told, shell, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("tfprof.inputs.profiler.Profiler.view", interrupt)
    assert told("op")[1:] == ("\ntfprof: interrupted\n", 130)
    assert not shell.is_over


def test_errors_of_the_library_end_the_command_only(told, monkeypatch):
    def fail(*_, **__):
        raise InputError("bad \x1b[31m")

    monkeypatch.setattr("tfprof.inputs.profiler.Profiler.view", fail)
    assert told("op")[1:] == ("error: bad \\x1b[31m\n", 3)


def test_a_mistake_of_tfprofs_own_ends_the_command_only(told, shell, monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError("1/0")

    monkeypatch.setattr("tfprof.inputs.profiler.Profiler.view", fail)
    out, err, code = told("op")
    assert (out, code) == ("", 1)
    assert "ZeroDivisionError: 1/0" in err
    assert err.endswith("error: ZeroDivisionError: this is a mistake in tfprof, please report it\n")
    assert not shell.is_over


def test_a_lack_of_memory_ends_the_command_only(told, shell, monkeypatch):
    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr("tfprof.inputs.profiler.Profiler.view", fail)
    out, err, code = told("op")
    assert (out, code) == ("", 1)
    assert err.startswith("error: out of memory; show less")
    assert not shell.is_over


def test_a_session_goes_on_when_the_reader_of_its_output_has_gone(shell, monkeypatch, tmp_path):
    class Gone:
        def write(self, text):
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")

        def flush(self):
            pass

        def isatty(self):
            return False

    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", Gone())
        assert shell.run("op") == 0
        assert shell.run("help op") == 0
        assert shell.run("set") == 0
        assert shell.run("op > there.txt") == 0
    assert (tmp_path / "there.txt").read_text().endswith("\n")
    assert not shell.is_over


def test_completion_knows_commands_options_and_the_profile(shell):
    def shown(text):
        return [found.shown for found in shell.completer().complete(text)]

    assert shown("sco") == ["scope"]
    assert "-order_by" in shown("op -")
    assert shown("op -order_by mic") == ["micros"]
    assert shown("op --format t") == ["text", "table", "tree"]
    assert shown("scope -show_name_regexes l") == ["layer/"]
    assert shown("op -show_name_regexes M") == ["MatMul"]
    assert shown("op -step ") == ["-1", "0", "1"]
    assert shown("set -max") == ["-max_depth", "-max_rows"]
    assert shown("max") == ["max_depth=", "max_rows="]
    assert shown("op ")[0] == "-max_depth"
    assert "-graph_path" in shown("op ")
    assert not any(option.startswith("-") for option in shown("checkpoint "))
    assert shown("reset max") == ["max_depth", "max_rows"]
    assert "flops" in shown("help ")
    assert shown("quit ") == []
    assert shown("op -account_type_regexes /job") == [
        "/job:localhost/replica:0/task:0/device:cpu:0"
    ]
