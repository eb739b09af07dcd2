"""What the library, the pages and the command line do with a file or folder of any other kind."""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import tfprof
from fuzz.case import Question
from fuzz.formats.folders import laid_out
from fuzz.formats.steps import log_seeds, run_seeds
from fuzz.questions.ask_pages import ANSWERS, TIMES
from fuzz.questions.commands import commands, run_command
from fuzz.questions.read_formats import FILES, FOLDERS, STACKS, all_of, each
from fuzz.questions.use_profiles import profiler_of
from tfprof.cli.registry import find_command, sections
from tfprof.cli.shell.loops import run_lines
from tfprof.cli.shell.shell import Shell
from tfprof.doctor.inputs import check_paths
from tfprof.export.formats import FORMATS, ExportFormat, export_chunks
from tfprof.files.open import load_file
from tfprof.inputs.open_paths import open_paths
from tfprof.inputs.resolve import resolve
from tfprof.inputs.sampled import device_memory
from tfprof.sql.catalog import Catalog
from tfprof.ui.pages.site import Site
from tfprof.ui.web.report import report

OPENED = FILES | FOLDERS
_MISTAKE = "this is a mistake in tfprof"


@contextmanager
def place_of(path: Path) -> Iterator[Path]:
    """The path to open: the file, or the folder that its content stands for."""
    if path.suffix != ".folder":
        yield path
        return
    with laid_out(path) as folder:
        yield folder


def _placed(ask: Callable[[Path], object]) -> Callable[[Path], None]:
    def asked(path: Path) -> None:
        with place_of(path) as place:
            ask(place)

    return asked


def _kind(place: Path) -> None:
    """What it is, and what each command answers to whom it is not for."""
    for one in resolve([place]):
        _ = one.kind
        each(
            lambda one=one: one.file.load(),
            lambda one=one: str(one.refusal("something else")),
            lambda: resolve([place]).only_captures("overview"),
            lambda: load_file(place),
        )


def _doctor(place: Path) -> None:
    for area in check_paths([place]):
        str(area)


def _export(form: ExportFormat) -> Callable[[Path], None]:
    def ask(place: Path) -> None:
        all_of(export_chunks(open_paths([place]), form, name="written"))

    return ask


def _tables(place: Path) -> None:
    catalog = Catalog(open_paths([place]))
    str(catalog.descriptions)
    for name in catalog.names():
        each(lambda name=name: all_of(getattr(catalog.table(name), "chunks", ())))


def _pages(place: Path) -> None:
    """Every page as the server sends it, alone and beside another run, and its data."""
    site = Site(open_paths([place]))
    for entry in json.loads(json.dumps(site.to_dict(), allow_nan=False))["pages"]:
        name = entry["id"]
        each(
            lambda name=name: json.loads(site.page(name, {}).to_json()),
            lambda name=name: json.loads(site.page(name, {"step": "1"}).to_json()),
            lambda name=name: [json.loads(data) for _, _, data in site.documents(name)],
        )


def _trace_data(place: Path) -> None:
    site = Site(open_paths([place]))
    for path, params in ANSWERS:
        each(lambda path=path, params=params: json.loads(
            site.data(f"trace/{path}", {**TIMES, **params})
        ))  # fmt: skip


def _report(place: Path) -> None:
    report(Site(open_paths([place])))


def _compared_pages(place: Path) -> None:
    site = Site(open_paths([place, _other_run()]))
    names = [one.name for one in site.opened]
    for entry in site.to_dict(names[0])["pages"]:
        each(lambda name=entry["id"]: site.page(
            name, {"run": names[0], "against": names[-1]}
        ).to_json())  # fmt: skip


@cache
def _demo() -> bytes:
    return profiler_of("run_metadata", run_seeds()[0]).serialize_to_string()


def _other_run() -> Path:
    """A saved profile, beside the working folder: it stays for the next question."""
    path = Path.cwd().parent / f"other-{os.getpid()}.profile"
    if not path.exists():
        path.write_bytes(_demo())
    return path


def _sampled(path: Path) -> None:
    each(
        lambda: device_memory(path).to_dict(),
        lambda: tfprof.diff(path, path).to_dict(),
    )


def _shell(data: bytes) -> None:
    """Lines that are typed into a session."""
    shell = Shell(lambda: profiler_of("op_log", log_seeds()[0]), sections(), find_command)
    text = data.decode("utf-8", "replace").replace(">", " ").replace("|", " ")
    lines = text.split("\n")[:40]
    completer = shell.completer()
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()) as messages,
    ):
        run_lines(shell, lines)
        for line in lines[:5]:
            each(lambda line=line: completer.complete(line))
    assert _MISTAKE not in messages.getvalue(), messages.getvalue()[-2000:]


_LINES = (
    *(f"{view} FILE -max_depth 10 -select bytes,micros,float_ops --format {form}"
      for view in ("scope", "graph", "op", "code") for form in ("text", "tree", "json", "csv")),
    "scope FILE --output file:outfile=written.txt", "graph FILE --output timeline:outfile=written",
    "code FILE --output pprof:outfile=written.pb", "scope FILE -o written.html",
    "advise FILE", "advise FILE --format json", "advise FILE -o written.html",
    "info FILE", "info FILE --format json", "info FILE --format csv", "info FILE -o written.html",
    "flops FILE", "flops FILE --by op --format csv", "flops FILE --explain",
    "flops FILE -o written.html",
    "summary FILE", "summary FILE --format json", "summary FILE -o written.html",
    "timeline FILE -o written.json", "pprof FILE -o written.pprof",
    "export FILE --table executions --format jsonl", "export FILE --table call_stacks --format csv",
    "convert FILE written.pb", "convert FILE written.pbtxt", "convert FILE written.pprof",
    "convert FILE written.pftrace", "convert FILE written.csv.gz",
    "convert FILE -o written --recover",
    "check FILE --write-budget written.toml", "doctor FILE", "doctor FILE --format json",
    "report FILE -o written.html", "checkpoint FILE", "checkpoint FILE --format json --recover",
    "checkpoint FILE --values .* --no-stats --format csv", "diff FILE FILE", "memory FILE",
    "tools FILE",
    "overview FILE", "op --graph_path FILE", "op --run_meta_path FILE",
    "op --op_log_path FILE --demo",
    "op --profile_path FILE --recover", "op --checkpoint_path FILE",
)  # fmt: skip


def _commands() -> Iterator[Question]:
    for one in commands(OPENED, _LINES):
        yield one._replace(name=f"{one.name} of any kind", ask=_placed(one.ask))


def _question(name: str, ask: Callable[[Path], object], part: str) -> Question:
    return Question(f"{name} of any kind", OPENED, _placed(ask), part)


QUESTIONS = (
    _question("recognize", _kind, "files"),
    _question("doctor", _doctor, "files"),
    *(_question(f"export {form.name}", _export(form), "exports") for form in FORMATS),
    _question("tables of SQL", _tables, "exports"),
    _question("pages", _pages, "pages"),
    _question("pages beside others", _compared_pages, "pages"),
    _question("report", _report, "pages"),
    Question("data of a trace of another program", frozenset({"chrome"}), _trace_data, "pages"),
    Question("device memory", STACKS, _sampled, "answers"),
    Question("lines of a shell", frozenset({"shell"}), _shell, "commands", of_bytes=True),
    Question("budget of a check", frozenset({"budget"}), lambda path: run_command(
        ["check", str(_other_run()), "--budget", str(path)]
    ), "commands"),
    *_commands(),
)  # fmt: skip
