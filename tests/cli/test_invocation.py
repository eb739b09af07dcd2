import pytest

from tfprof.cli.commands.shell import command
from tfprof.cli.invocation import command_first

COMMANDS = ("op", "scope", "shell")
FLAGS = command.flags(command.make_context("shell", [], resilient_parsing=True))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").mkdir()
    (tmp_path / "graph.pb").touch()
    (tmp_path / "model.ckpt-1.index").touch()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", "--help"),
        ("help", "--help"),
        ("help op", "op --help"),
        ("help nothing", "nothing --help"),
        ("help help", "--help"),
        ("--version", "--version"),
        ("op run", "op run"),
        ("opp run", "opp run"),
        ("run opp", "opp run"),
        ("-max_depth 3 run opp", "opp -max_depth 3 run"),
        ("run -- -x", "run -- -x"),
        ("run", "shell run"),
        ("graph.pb run", "shell graph.pb run"),
        ("model.ckpt-1", "shell model.ckpt-1"),
        ("run -max_depth 3", "shell run -max_depth 3"),
        ("--profile_path=x", "shell --profile_path=x"),
        ("--profile_path x", "shell --profile_path x"),
        ("--graph_path=a --run_meta_path=b scope -max_depth=4",
         "scope --graph_path=a --run_meta_path=b -max_depth=4"),
        ("--graph_path op scope", "scope --graph_path op"),
        ("-account_displayed_op_only op", "op -account_displayed_op_only"),
        ("-account_displayed_op_only true op", "op -account_displayed_op_only true"),
        ("--demo scope", "scope --demo"),
        ("-- op", "op --"),
    ],
)  # fmt: skip
def test_where_the_command_stands(words, expected):
    assert command_first(words.split(), COMMANDS, FLAGS) == expected.split()


def test_odd_words_are_not_paths():
    assert command_first(["a\0b"], COMMANDS, FLAGS) == ["a\0b"]


def test_the_originals_order_of_words(call, graph, runs):
    flags = [f"--graph_path={graph}", f"--run_meta_path={runs[0]}"]
    result = call(*flags, "op", "-select", "micros")
    assert result.exit_code == 0
    assert result.stdout == call("op", *flags, "-select", "micros").stdout


def test_help_behind_an_option(call):
    assert call("--demo", "-h").exit_code == 0
    assert call("--demo", "-h").stdout == call("shell", "--help").stdout


def test_nothing_asks_for_help(call):
    assert call().exit_code == 0
    assert call().stdout == call("--help").stdout == call("help").stdout


@pytest.mark.parametrize(
    ("words", "word"),
    [
        (["GRAPH", "opp"], "'opp'; did you mean 'op'?"),
        (["-max_depth", "3", "GRAPH", "opp"], "'opp'; did you mean 'op'?"),
        (["help", "scop"], "'scop'; did you mean 'scope'?"),
        (["helpp"], "'helpp'; did you mean 'help'?"),
        (["GRAPH", "no/such.pb"], "'no/such.pb'\n"),
    ],
)
def test_the_word_that_is_wrong_is_named(call, graph, words, word):
    done = call(*(graph if each == "GRAPH" else each for each in words))
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"no such command or file: {word}" in done.stderr


def test_options_of_the_program_are_suggested(call):
    result = call("--versoin")
    assert result.exit_code == 2
    assert "unknown option '--versoin'; did you mean --version?" in result.stderr
    assert call("op", "--versoin").stderr.count("--version?") == 0


@pytest.mark.parametrize(
    ("words", "where"),
    [
        (["--hlep"], "cli"),
        (["op", "--hlep"], "cli op"),
        (["shell", "--hlep"], "cli shell"),
    ],
)
def test_help_is_offered_of_what_was_named(call, words, where):
    result = call(*words)
    assert result.exit_code == 2
    assert "unknown option '--hlep'; did you mean --help?" in result.stderr
    assert f"Try '{where} --help'." in result.stderr
