"""What the ending of a file's name says about its format."""

import json
import sys

import pytest

from tfprof.testing.xspace_builders import event, host, line, xspace


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
        ("advise", "a.csv", "advise does not write csv; name the file as one of its formats "
         "(text, json, html), or give --format"),
        ("op", "a.svg", "op does not write svg"),
        ("op-stats", "a.parquet", "tfprof convert PATH a.parquet --table TABLE writes a table"),
        ("advise", "a.csv.gz", "advise does not write csv"),
        ("export", "a.HTML", "export does not write HTML"),
    ],
)  # fmt: skip
def test_a_name_does_not_promise_another_format(call, graph, tmp_path, command, name, message):
    done = call(command, graph, "-o", tmp_path / name)
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr
    assert not (tmp_path / name).exists()


def test_the_requested_format_is_written_whatever_the_name(call, graph, tmp_path):
    assert call("export", graph, "--format", "csv", "-o", tmp_path / "a.html").exit_code == 0
    assert (tmp_path / "a.html").read_text("utf-8").startswith("name,")


@pytest.mark.skipif(sys.platform != "linux", reason="needs names that are not text")
def test_a_name_that_is_not_text_can_be_written(call, graph, tmp_path):
    folder = tmp_path / "run\udcff"
    folder.mkdir()
    (folder / "host.xplane.pb").write_bytes(xspace(host(line(event("y", 0)))).SerializeToString())
    assert call("tools", folder, "--format", "json", "-o", tmp_path / "a.json").exit_code == 0
    assert json.loads((tmp_path / "a.json").read_text("utf-8"))["run"] == "run\udcff"


@pytest.mark.parametrize(
    "words", [["timeline", "--demo"], ["pprof", "--demo"], ["convert", "x.pb"]]
)
def test_commands_that_write_no_page_refuse_the_name_of_one(words, tmp_path):
    from click.testing import CliRunner

    from tfprof.cli.registry import find_command

    name, *others = words
    page = tmp_path / "x.html"
    done = CliRunner().invoke(find_command(name), [*others, "-o", str(page)], obj=None)
    assert done.exit_code
    assert "writes no page" in str(done.exception or done.output)
    assert not page.exists()
