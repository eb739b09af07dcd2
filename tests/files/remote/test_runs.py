"""Runs, profiles and checkpoints on other machines answer as those of this one."""

from __future__ import annotations

import lzma
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

import tfprof
from tests.files.checkpoint.tables import entry, write_bundle
from tests.files.remote.web_server import Files, Handler, status
from tfprof import tools
from tfprof.cli.program import cli
from tfprof.demo import demo_capture, demo_files
from tfprof.errors import EmptyProfileError, InputError, UsageError
from tfprof.files.remote.path import as_path
from tfprof.files.run_folder import runs
from tfprof.inputs.open_paths import open_paths
from tfprof.ui.pages.site import Site
from tfprof.ui.web.report import report

pytestmark = pytest.mark.one_engine

CAPTURES = {  # with an unknown field, so that none is a copy of another one
    host: lzma.compress(
        lzma.decompress(demo_capture("gpu").read_bytes()) + b"\x7a\x01" + host.encode()
    )
    for host in "abc"
}
LOGS = "/logs/plugins/profile"


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A log folder with three runs and the files of a run, on this machine."""
    for run, hosts in (("run1", "ab"), ("run2", "abc"), ("run3", "ab")):
        folder = tmp_path / LOGS[1:] / run
        folder.mkdir(parents=True)
        for host in hosts:
            (folder / f"{host}.xplane.pb.xz").write_bytes(CAPTURES[host])
    (tmp_path / "other.xplane.pb.xz").write_bytes(demo_capture("input-bound").read_bytes())
    (tmp_path / "run").mkdir()
    files = demo_files()
    for path in (files.graph, files.run_meta, files.op_log):
        (tmp_path / "run" / path.name).write_bytes(path.read_bytes())
    (tmp_path / "budget.toml").write_text('step_time = "<= 25 s"\n')
    return tmp_path


@pytest.fixture
def there(web: Files, here: Path) -> Files:
    """The same on a web server."""
    for path in here.rglob("*"):
        if path.is_file():
            web.put(f"/{path.relative_to(here)}", path.read_bytes())
    return web


@pytest.fixture
def memory(here: Path) -> Iterator[str]:
    """The same in fsspec's memory."""
    fsspec = pytest.importorskip("fsspec")
    files = fsspec.filesystem("memory")
    for path in here.rglob("*"):
        if path.is_file():
            files.pipe(f"/tfprof-runs/{path.relative_to(here)}", path.read_bytes())
    yield "memory://tfprof-runs"
    files.rm("/tfprof-runs", recursive=True)


def _names(web: Files) -> set[str]:
    """Files of which some content was sent."""
    return {one.path for one in web.requests if one.n_sent and not one.path.endswith("/")}


def _invoke(*words: str) -> Result:
    result = CliRunner().invoke(cli, words)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_only_the_chosen_run_is_fetched(there: Files) -> None:
    run = tools.open_run(f"{there.url}/logs", run="run2")
    assert [host.name for host in run.hosts] == ["a", "b", "c"]
    assert _names(there) == {f"{LOGS}/run2/{host}.xplane.pb.xz" for host in "abc"}
    assert there.n_sent < sum(map(len, CAPTURES.values())) + 10_000
    assert tools.open_run(f"{there.url}/logs").name == "run3"
    with pytest.raises(UsageError, match="no run 'run9'; it has: run1, run2, run3"):
        tools.open_run(f"{there.url}/logs", run="run9")
    with pytest.raises(EmptyProfileError, match=f"{there.url}/run: holds no capture"):
        tools.open_run(f"{there.url}/run")


def test_runs_are_listed_several_at_once(there: Files) -> None:
    begun = threading.Barrier(3)

    def together(handler: Handler) -> bool:
        if handler.request_.path.startswith(f"{LOGS}/run") and handler.request_.path.endswith("/"):
            begun.wait(10)  # all three are under way, or this breaks
        return False

    there.faults = [together]
    known = runs(as_path(f"{there.url}/logs"))
    assert list(known) == ["run1", "run2", "run3"]


def test_only_the_chosen_host_is_fetched(there: Files) -> None:
    run = tools.open_run(f"{there.url}{LOGS}/run2/b.xplane.pb.xz")
    assert [host.name for host in run.hosts] == ["b"]
    assert _names(there) == {f"{LOGS}/run2/b.xplane.pb.xz"}


def test_hosts_that_cannot_be_read_are_named_and_the_others_answer(
    there: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TFPROF_REMOTE_TRIES", "2")
    denied, failing = (f"{LOGS}/run2/{host}.xplane.pb.xz" for host in "ac")
    there.faults = [status(403, denied), status(503, failing, Retry_After="0")]
    run = tools.open_run(f"{there.url}/logs", run="run2")
    assert [host.name for host in run.hosts] == ["b"]
    warnings = [note for note in run.notes if "not read" in note.message]
    assert [note.host for note in warnings] == ["a", "c"]
    assert f"{there.url}{denied}: cannot be read: access is denied" in warnings[0].message
    assert "the server fails (status 503); tried 2 times" in warnings[1].message
    there.faults = [status(403)]
    with pytest.raises(InputError, match="access is denied"):
        tools.open_run(f"{there.url}/logs")


def test_files_that_cannot_be_read_are_named_among_others(there: Files) -> None:
    paths = [f"{there.url}{LOGS}/run2/{host}.xplane.pb.xz" for host in "abc"]
    there.faults = [status(403, f"{LOGS}/run2/b.xplane.pb.xz")]
    run = tools.open_run(paths)
    assert [host.name for host in run.hosts] == ["a", "c"]
    assert any(f"{paths[1]}: cannot be read: access is denied" in one.message for one in run.notes)
    result = _invoke("op-stats", *paths)
    assert result.exit_code == 0
    assert "access is denied" in result.output
    assert _invoke("op-stats", paths[1]).exit_code == 3


def test_several_urls_in_one_word(there: Files) -> None:
    graph, run = (getattr(demo_files(), name).name for name in ("graph", "run_meta"))
    steps = f"{there.url}/run/{run}?sig=s3cret,{there.url}/run/{run}?sig=s3cret"
    result = _invoke("info", "--graph_path", f"{there.url}/run/{graph}", "--run_meta_path", steps)
    assert result.exit_code == 0, result.output
    assert "2 steps" in result.output
    assert "s3cret" not in result.output
    assert {one.query for one in there.of(f"/run/{run}")} == {"sig=s3cret"}


def test_memory_answers_as_a_folder(memory: str, here: Path) -> None:
    ours, theirs = (tools.open_run(f"{base}/logs") for base in (here, memory))
    assert (ours.name, [host.name for host in ours.hosts]) == (
        theirs.name, [host.name for host in theirs.hosts],
    )  # fmt: skip
    assert tools.overview(ours).to_dict() == tools.overview(theirs).to_dict()
    profile = tfprof.open_profile(f"{memory}/run")
    assert profile.steps == tfprof.open_profile(str(here / "run")).steps
    graph = f"{memory}/run/{demo_files().graph.name}"
    assert tfprof.flops(graph).total == tfprof.flops(demo_files().graph).total


COMMANDS = [
    ["op-stats", "{}/logs"],
    ["tools", "{}/logs", "--run", "run2"],
    ["op", "{}/run"],
    ["check", f"{{}}{LOGS}/run1/a.xplane.pb.xz", "--budget", "{}/budget.toml"],
    ["query", f"{{}}{LOGS}/run1/a.xplane.pb.xz", "select count(*) as n from events"],
    ["diff", f"{{}}{LOGS}/run1/a.xplane.pb.xz", "{}/other.xplane.pb.xz"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_commands_answer_as_for_a_folder(words: list[str], there: Files, here: Path) -> None:
    if words[0] == "query":
        pytest.importorskip("duckdb")
    ours = _invoke(*(word.format(here) for word in words))
    theirs = _invoke(*(word.format(there.url) for word in words))
    assert theirs.exit_code == ours.exit_code == 0
    assert theirs.output.replace(there.url, "*") == ours.output.replace(str(here), "*")


@pytest.mark.parametrize(
    "words",
    [
        ["slice", "{}/logs", "--hosts", "a", "--time", "0:1ms", "-o"],
        ["convert", f"{{}}/run/{demo_files().graph.name}"],
    ],
    ids=lambda words: words[0],
)
def test_files_are_written_as_of_a_folder(
    words: list[str], there: Files, here: Path, tmp_path: Path
) -> None:
    written: list[bytes] = []
    for base, name in ((str(here), "ours.xplane.pb"), (there.url, "theirs.xplane.pb")):
        result = _invoke(*(word.format(base) for word in words), str(tmp_path / name))
        assert result.exit_code == 0, result.output
        written.append((tmp_path / name).read_bytes())
    assert written[0] == written[1]


def test_pages_and_reports(there: Files) -> None:
    found = open_paths([f"{there.url}/logs"])
    assert [one.name for one in found] == ["run3", "run2", "run1"]
    assert not _names(there), "runs are fetched when they are looked at"
    assert report(Site(found[:1]), ["overview"]).startswith(b"<!DOCTYPE html>")
    assert {name.split("/")[-2] for name in _names(there)} == {"run3"}


def test_command_lines_show_no_secrets(there: Files) -> None:
    host = there.url.removeprefix("http://")
    url = f"http://ann:hunter2@{host}{LOGS}/run1/a.xplane.pb.xz?sig=s3cret"
    outputs = [
        _invoke(*words).output
        for words in (["tools", url], ["op-stats", url, "--format", "html"], ["info", url],
                      ["tools", url.replace("run1", "run9")], ["op", url, url],
                      ["diff", url, url.replace("run1", "run2")])
    ]  # fmt: skip
    assert all(outputs)
    for output in outputs:
        assert "hunter2" not in output
        assert "s3cret" not in output
    assert f"{there.url}{LOGS}/run9/a.xplane.pb.xz: cannot be read" in outputs[3]


@pytest.mark.parametrize(
    "ask",
    [
        tools.open_run,
        tfprof.open_profile,
        tfprof.flops,
        tfprof.open_checkpoint,
        tfprof.Profiler.load,
        lambda url: open_paths([url]),
        lambda url: tfprof.diff(url, url),
    ],
)
def test_functions_tell_no_secrets(ask: Callable[[str], Any], web: Files) -> None:
    host = web.url.removeprefix("http://")
    for code in (403, 404):
        web.faults = [status(code)]
        with pytest.raises(InputError) as caught:
            ask(f"http://ann:hunter2@{host}/x.xplane.pb?sig=s3cret")
        text = f"{caught.value} {caught.value.__cause__}"
        assert "hunter2" not in text
        assert "s3cret" not in text
        assert f"{web.url}/x.xplane.pb" in text


def test_checkpoints_are_read_in_parts(web: Files, tmp_path: Path) -> None:
    large = np.arange(1 << 19, dtype=np.float32)
    parts = {b"large": large.tobytes(), b"small": large[:2].tobytes()}
    shard = b"".join(parts.values())
    entries = {
        b"large": entry(1, large.shape, parts[b"large"]),
        b"small": entry(1, (2,), parts[b"small"], offset=len(parts[b"large"])),
    }
    write_bundle(tmp_path / "model", entries, shard)
    for path in tmp_path.iterdir():
        if path.is_file():
            web.put(f"/ck/{path.name}", path.read_bytes())
    for name in ("model", "model.index", ""):
        checkpoint = tfprof.open_checkpoint(f"{web.url}/ck/{name}")
        assert [variable.name for variable in checkpoint.variables] == ["large", "small"]
    assert checkpoint.read("small").tolist() == [0, 1]
    assert web.n_sent < 1 << 20, "the large one is not fetched"
    assert np.array_equal(checkpoint.read("large"), large)
