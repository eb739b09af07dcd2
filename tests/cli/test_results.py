"""What the ending of a file's name says about its format."""

import pytest


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("a.json", '{"view": "op"'),
        ("a.CSV", "name,depth,"),
        ("a.html", "<!DOCTYPE html>"),
        ("a.tree", "total"),
        ("a.txt", "\nDoc:"),
        ("a", "\nDoc:"),
    ],
)
def test_the_ending_chooses_the_format(call, graph, tmp_path, name, start):
    assert call("op", graph, "-o", tmp_path / name).exit_code == 0
    assert (tmp_path / name).read_text("utf-8").startswith(start)


@pytest.mark.parametrize(
    ("command", "name", "message"),
    [
        ("info", "a.html", "info does not write html; name the file as one of its formats (text, "
         "json, csv), or give --format"),
        ("op", "a.svg", "op does not write svg"),
        ("advise", "a.csv.gz", "advise does not write csv"),
        ("export", "a.HTML", "export does not write HTML"),
    ],
)  # fmt: skip
def test_a_name_does_not_promise_another_format(call, graph, tmp_path, command, name, message):
    done = call(command, graph, "-o", tmp_path / name)
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr
    assert not (tmp_path / name).exists()


def test_the_format_that_is_asked_for_is_written_whatever_the_name(call, graph, tmp_path):
    assert call("export", graph, "--format", "csv", "-o", tmp_path / "a.html").exit_code == 0
    assert (tmp_path / "a.html").read_text("utf-8").startswith("name,")
