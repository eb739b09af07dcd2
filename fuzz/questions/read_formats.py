"""Readers of all formats but captures: bytes in, data out, down to the last value."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np

import tfprof
from fuzz.case import Question
from fuzz.formats.folders import laid_out
from tfprof.captures.read.jax_log import read_jax_log
from tfprof.captures.trace.foreign import model_of_json
from tfprof.cli.shell.line import last_word, parse_line
from tfprof.core.hardware import device_of
from tfprof.core.text.matching import compiled, matched
from tfprof.core.wire.text_index import TextIndex
from tfprof.errors import TfprofError
from tfprof.files.checkpoint import open_checkpoint
from tfprof.files.checkpoint.value_statistics import statistics_of
from tfprof.files.checkpoint.values import checkpoint_values
from tfprof.files.chrome_json import arrow_pairs, read_chrome_json
from tfprof.files.collapsed import stacks_of_collapsed
from tfprof.files.compression import decompressed, unpack_head
from tfprof.files.events import read_events
from tfprof.files.pprof import stacks_of_pprof
from tfprof.files.sniff import Format, advice, check_expected, packed_format, sniff
from tfprof.files.speedscope import stacks_of_speedscope
from tfprof.graphs.read.graphdef import read_graph
from tfprof.insight.budgets import quantities
from tfprof.insight.budgets.budget import budget_of
from tfprof.options.lists import joined_list, split_list
from tfprof.options.output import parse_classic_output, parse_output
from tfprof.options.parse import parse_options
from tfprof.options.regex import NameMatcher
from tfprof.options.spec import BY_NAME
from tfprof.profiles.model.runs import KnownNames
from tfprof.profiles.read.oplog import read_op_log
from tfprof.profiles.read.profile_proto import read_profile
from tfprof.profiles.read.run_metadata import SeenShapes, read_run_metadata
from tfprof.remote.durations import seconds_of
from tfprof.remote.hangs.stacks import faulthandler_stacks, py_spy_stacks

GRAPHS = frozenset({"graph", "graph_text", "meta_graph"})
STACKS = frozenset({"pprof", "speedscope", "collapsed"})
MESSAGES = GRAPHS | {"run_metadata", "op_log", "profile"}
FOREIGN = STACKS | {"chrome"}
FILES = MESSAGES | FOREIGN | {"events", "packed"}
FOLDERS = frozenset({"checkpoint", "saved_model", "run_folder"})


def each(*calls: Callable[[], object]) -> None:
    """Make every call: an error of tfprof in one does not spare the others."""
    for call in calls:
        try:
            call()
        except TfprofError:
            continue


def all_of(parts: Iterable[object]) -> None:
    """Take every part."""
    for _ in parts:
        pass


@cache
def _known() -> tuple[TextIndex, Any]:
    index = TextIndex()
    index.extend(["x", "dense/MatMul"])
    return index, np.array([True, True, False])


def _run(data: bytes) -> None:
    index, known = _known()
    read_run_metadata(data, KnownNames(index.find, known, known, SeenShapes().take_new))


def _profile(data: bytes) -> None:
    each(
        lambda: read_profile(data, classic=False),
        lambda: read_profile(data, classic=True),
        lambda: read_profile(data, classic=False, recover=True),
    )


def _sniff(data: bytes) -> None:
    found = sniff(data, "file")
    advice(found)
    each(*(lambda one=one: check_expected(data, one, "file") for one in Format))


def _unpack(data: bytes) -> None:
    each(lambda: decompressed(data, "file"))
    packing = packed_format(data)
    if packing is not None:
        each(lambda: unpack_head(io.BytesIO(data), packing, "file", 1 << 20))


def _chrome(data: bytes) -> None:
    read = read_chrome_json(data, "file")
    all_of(arrow_pairs(read))
    model_of_json(read)


def _patterns(data: bytes) -> None:
    pattern, *names = data.decode("utf-8", "replace").split("\n")
    for on_error in ("raise", "never_match"):
        matcher = NameMatcher([pattern], on_error)
        each(lambda matcher=matcher: matcher.mask(names))
    each(lambda: matched(compiled(pattern, re.IGNORECASE), names, "search"))


_DIMENSIONS = [one for one in vars(quantities).values() if isinstance(one, quantities.Dimension)]


def _options(data: bytes) -> None:
    """Each line as whatever an option may be; all of them as the options of a view."""
    lines = data.decode("utf-8", "replace").split("\n")
    for line in lines[:20]:
        each(
            lambda line=line: parse_line(line),
            lambda line=line: last_word(line),
            lambda line=line: parse_output(line),
            lambda line=line: parse_classic_output(line),
            lambda line=line: joined_list(split_list([line])),
            lambda line=line: seconds_of(line),
            lambda line=line: device_of(line),
            *(lambda line=line, one=one: quantities.bound_of(line, one) for one in _DIMENSIONS),
        )
    pairs = [line.partition("=")[::2] for line in lines]
    texts = {key: value for key, value in pairs if key in BY_NAME}
    values = {
        key: value.split(",") if BY_NAME[key].kind == "list" else _number(value)
        for key, value in texts.items()
    }
    for given in (texts, values):
        each(
            lambda given=given: parse_options(given, classic=False),
            lambda given=given: parse_options(given, classic=True),
        )


def _number(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _log(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    read_jax_log(text)
    faulthandler_stacks(text)
    try:
        py_spy_stacks(text)
    except ValueError:  # its own error, for who reads the output of py-spy
        return


def _checkpoint(path: Any) -> None:
    """Every value of a checkpoint, with its statistics and as text, and damage left out."""
    with laid_out(path) as folder:
        names = {one.name.partition(".")[0] for one in folder.iterdir()}
        for place in (folder, *(folder / name for name in sorted(names)[:3])):
            for recover in (False, True):
                each(lambda place=place, recover=recover: _values(place, recover))


def _values(place: Any, recover: bool) -> None:
    checkpoint = open_checkpoint(place, recover=recover)
    values = checkpoint_values(checkpoint)
    for one in checkpoint.variables:
        each(
            lambda one=one: statistics_of(checkpoint.read(one.name)),
            lambda one=one: statistics_of(checkpoint.read(one.name, verify=False)),
            lambda one=one: str(values.value(one.name)),
        )


def _bytes(name: str, formats: frozenset[str], ask: Callable[[bytes], object]) -> Question:
    return Question(name, formats, ask, "readers", of_bytes=True)


QUESTIONS = (
    _bytes("read graph", GRAPHS, read_graph),
    _bytes("read run metadata", frozenset({"run_metadata"}), _run),
    _bytes("read op log", frozenset({"op_log"}), read_op_log),
    _bytes("read profile", frozenset({"profile"}), _profile),
    _bytes("read events", frozenset({"events"}), read_events),
    _bytes("read pprof", frozenset({"pprof"}), lambda data: stacks_of_pprof(data, "file")),
    _bytes("read speedscope", frozenset({"speedscope"}),
           lambda data: stacks_of_speedscope(data, "file")),
    _bytes("read collapsed", frozenset({"collapsed"}),
           lambda data: stacks_of_collapsed(data, "file")),
    _bytes("read chrome", frozenset({"chrome"}), _chrome),
    _bytes("read budget", frozenset({"budget"}), budget_of),
    _bytes("match patterns", frozenset({"patterns"}), _patterns),
    _bytes("parse options", frozenset({"options"}), _options),
    _bytes("read logs", frozenset({"logs"}), _log),
    _bytes("unpack", frozenset({"packed"}), _unpack),
    _bytes("sniff", FILES, _sniff),
    _bytes("load profile as the original", frozenset({"profile"}),
           lambda data: tfprof.load(data, classic=True).serialize_to_string()),
    Question("read checkpoint", frozenset({"checkpoint", "saved_model"}), _checkpoint, "values"),
)  # fmt: skip
