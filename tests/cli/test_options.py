import pytest


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("op --format cvs", "'--format': 'cvs' is not one of text, table, tree, json, csv, html; "
         "did you mean 'csv'?"),
        ("op --format JSON", "did you mean 'json'?"),
        ("op --color blue", "'blue' is not one of auto, always, never\n"),
        ("export --table op_step", "did you mean 'op_steps'?"),
        ("completion", "Missing argument 'SHELL'. Give one of: bash, zsh, fish\n"),
        ("advise --checkers jobchecker", "unknown checker 'jobchecker'; did you mean 'JobChecker'"),
        ("advise --checkers ,", "--checkers names no checker; leave it out"),
    ],
)  # fmt: skip
def test_a_word_that_is_not_a_choice_gets_a_hint(call, words, message):
    command, *rest = words.split()
    done = call(command, *rest, *([] if command == "completion" else ["--demo"]))
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr


@pytest.mark.parametrize(
    "command", ["op", "info", "export", "timeline", "pprof", "convert", "dot x", "completion bash"]
)
def test_a_file_to_write_has_a_name(call, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = call(*command.split(), "-o", "")
    assert done.exit_code == 2
    assert "'--outfile': give the name of a file, or - for stdout" in done.stderr
    assert not list(tmp_path.iterdir())
