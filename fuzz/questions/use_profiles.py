"""Views, costs, advice and tables of profiles, in every form that a command or a page writes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

import tfprof
from fuzz.case import Question
from fuzz.formats.folders import laid_out
from fuzz.formats.steps import log_seeds, run_seeds, small_graph
from fuzz.questions.read_formats import GRAPHS, all_of, each
from tfprof.advisor.findings_text import findings_json
from tfprof.cli.output import Target
from tfprof.cli.results import as_csv, as_json, as_text
from tfprof.doctor.contents import check_events, check_graph, check_op_log, check_profile, check_run
from tfprof.files.sniff import Format
from tfprof.graphs.reports.flops_text import type_lines, type_rows
from tfprof.graphs.reports.summary import ModelSummary
from tfprof.graphs.reports.summary_text import summary_text
from tfprof.inputs.profiler import Profiler, session_of
from tfprof.insight.budgets.budget import budget_of
from tfprof.insight.budgets.check import check
from tfprof.insight.budgets.ci_reports import FORMATS as REPORTS
from tfprof.insight.budgets.first_budget import first_budget
from tfprof.insight.budgets.subject import Subject
from tfprof.profiles.accounting.profile_info import profile_info
from tfprof.profiles.show.info import InfoText, info_head, step_rows
from tfprof.profiles.write.messages import message_bytes, text_of
from tfprof.profiles.write.tables import TABLES, table_chunks
from tfprof.testing.builders import options
from tfprof.views.show.terminal import ViewOutline, ViewTable
from tfprof.views.show.tfprof_text import render_report

KINDS = ("scope", "graph", "op", "code")
PROFILES = frozenset({"graph", "run_metadata", "op_log", "profile"})
_ALL = ("bytes", "peak_bytes", "residual_bytes", "output_bytes", "micros", "accelerator_micros",
        "cpu_micros", "params", "float_ops", "tensor_value", "device", "op_types", "occurrence",
        "input_shapes")  # fmt: skip
_CHOICES: Mapping[str, dict[str, Any]] = {
    "everything": options(select=list(_ALL), max_depth=1000),
    "an order": options(select=["micros", "bytes"], order_by="peak_bytes", min_micros=1),
    "patterns": options(
        select=["float_ops"], start_name_regexes=[".*a.*"], trim_name_regexes=["x|w"],
        hide_name_regexes=["(b|c)*"], account_type_regexes=[".*Mat.*", "_.*"],
        account_displayed_op_only=True, order_by="float_ops", max_depth=3,
    ),
}  # fmt: skip
"""Options of views, by name."""


@cache
def _small() -> bytes:
    return bytes(small_graph().SerializeToString())


def profiler_of(form: str, data: bytes, classic: bool = False) -> Profiler:
    """A profile of the content of a file, with a small graph where the file has none.

    Raises:
        TfprofError: The file is not what it should be.
    """
    if form == "profile":
        return tfprof.load(data, classic=classic)
    if form in GRAPHS:
        profiler = Profiler(data, classic=classic)
        profiler.add_step(7, run_seeds()[0])
        return profiler
    log = data if form == "op_log" else log_seeds()[0]
    profiler = Profiler(_small(), log, classic=classic)
    for step in (1, 2):
        profiler.add_step(step, data if form == "run_metadata" else run_seeds()[0])
    return profiler


@lru_cache(maxsize=2)
def _profiler(form: str, data: bytes, classic: bool) -> Profiler:
    """Several questions about the same input read it once."""
    return profiler_of(form, data, classic)


def view_of(profiler: Profiler, kind: str, chosen: Mapping[str, Any]) -> None:
    """A view in all forms."""
    tree = profiler.view(kind, chosen)
    rows = tree.to_rows()
    as_csv(rows)
    json.dumps(rows, allow_nan=False, default=str)
    render_report(tree)
    target = Target()
    for shown in (ViewTable, ViewOutline):
        as_text([shown(tree, 40, target.glyphs())], target, width=None)
    for number, node in enumerate(tree.root):
        str(node)
        if number > 50:
            break


def message_of_view(profiler: Profiler, kind: str, chosen: Mapping[str, Any]) -> None:
    """A view as TensorFlow's message."""
    ways = {"scope": profiler.profile_name_scope, "graph": profiler.profile_graph,
            "op": profiler.profile_operations, "code": profiler.profile_python}  # fmt: skip
    ways[kind](chosen).SerializeToString()


def files_of(profiler: Profiler, kind: str, output: str) -> None:
    """A view as a file."""
    chosen = {**_CHOICES["everything"], "output": output}
    if output.startswith("timeline") and len(profiler.steps) > 30:  # it is a file for each
        return
    for file in profiler.output_files(kind, chosen):
        all_of(file.chunks)


def _advice(profiler: Profiler) -> None:
    findings = profiler.findings()
    json.loads(findings_json(findings, []))
    for one in findings:
        str(one)
    each(lambda: profiler.findings(show_library_frames=True))


def _tables(profiler: Profiler) -> None:
    profile = session_of(profiler).complete()
    for table in TABLES:
        for form in ("csv", "json", "jsonl"):
            all_of(table_chunks(table, profile, form))


def _info(profiler: Profiler) -> None:
    info = profile_info(session_of(profiler).complete())
    target = Target()
    as_text([InfoText(info, target.glyphs())], target)
    as_json(info_head(info), step_rows(info.steps))
    as_csv(step_rows(info.steps))


def _saved(profiler: Profiler) -> None:
    """A profile as it is saved, which must be readable, and the same when it is saved again."""
    for constants in (True, False):
        data = profiler.serialize_to_string(constants=constants)
        again = tfprof.load(data, classic=profiler.classic)
    assert again.steps == profiler.steps, "a saved profile has other steps"
    each(lambda: text_of(data, Format.PROFILE))


_BUDGET = budget_of(b"""step_time = "5 us"
peak_memory = "1 kB"
float_operations = "1 k"
parameters = 7

[op_time]
"MatMul|.*" = "1 us"
[scope_time]
"dense/.*" = "1 us"
""")  # fmt: skip


def _checked(profiler: Profiler) -> None:
    subject = Subject("file", lambda: profiler, None)
    report = check([subject], _BUDGET)
    for write in REPORTS.values():
        write(report)
    each(lambda: budget_of(first_budget(subject).encode()))


def _united(profiler: Profiler) -> None:
    profiler.merge(profiler_of("run_metadata", run_seeds()[0])).serialize_to_string()


def _compared(profiler: Profiler) -> None:
    before = profiler_of("run_metadata", run_seeds()[0])
    for one, other in ((before, profiler), (profiler, before)):
        each(lambda one=one, other=other: tfprof.diff(one, other).to_dict())


def _flops_of_profile(profiler: Profiler) -> None:
    report = tfprof.flops(profiler)
    report.to_rows()
    str(tfprof.summary(profiler))


def _flops(data: bytes, batch: int | None = None) -> None:
    report = tfprof.flops(data, batch=batch)
    _ = report.by_scope, report.by_type, report.by_phase, report.uncounted, report.coverage
    rows = report.to_rows()
    as_csv(rows)
    json.dumps(rows, default=str)
    str(report.explain(20))
    str(report.roofline("h100"))
    type_lines(report)
    type_rows(report)


def _params(data: bytes) -> None:
    report = tfprof.params(data)
    str(report)
    json.dumps(report.to_rows(), default=str)


def _summary(data: bytes) -> None:
    made: ModelSummary = tfprof.summary(data)
    summary_text(made)
    json.loads(made.to_json())
    made.to_csv()


def _converted(form: str, data: bytes) -> None:
    """A message as text, and its text as a message."""
    kind = {"graph": Format.GRAPH_DEF, "graph_text": Format.GRAPH_DEF,
            "meta_graph": Format.META_GRAPH_DEF, "run_metadata": Format.RUN_METADATA,
            "op_log": Format.OP_LOG, "profile": Format.PROFILE}[form]  # fmt: skip
    binary = message_bytes(data, kind)
    text, _ = text_of(binary, kind)
    message_bytes(text, kind)


_EXAMINED: Mapping[str, Callable[[bytes], Any]] = {
    **dict.fromkeys(GRAPHS, check_graph), "run_metadata": check_run, "op_log": check_op_log,
    "profile": check_profile, "events": check_events,
}  # fmt: skip


def _folder(path: Path, use: Callable[[Profiler], object]) -> None:
    with laid_out(path) as folder:
        use(tfprof.open_profile(folder))


def _model(path: Path, use: Callable[[Any], object]) -> None:
    with laid_out(path) as folder:
        use(folder)


def _both_modes(use: Callable[..., object], *rest: Any) -> Callable[[str, bytes], None]:
    def ask(form: str, data: bytes) -> None:
        each(*(lambda classic=classic: use(_profiler(form, data, classic), *rest)
               for classic in (False, True)))  # fmt: skip

    return ask


def _in_default(use: Callable[[Profiler], object]) -> Callable[[str, bytes], None]:
    return lambda form, data: use(_profiler(form, data, False))


_OF_PROFILES: Mapping[str, Callable[[str, bytes], None]] = {
    **{f"{kind} view with {name}": _both_modes(view_of, kind, chosen)
       for kind in KINDS for name, chosen in _CHOICES.items()},
    **{f"{kind} view as a message": _both_modes(message_of_view, kind, _CHOICES["everything"]
                                                | {"output": "none"}) for kind in KINDS},
    **{f"{kind} view as {output}": _both_modes(files_of, kind, f"{output}:outfile=o{ending}")
       for kind in KINDS
       for output, ending in (("file", ""), ("pprof", ""), ("timeline", ""), ("dot", ".dot"))
       if not (kind == "op" and output in ("timeline", "dot", "pprof"))},
    "advice": _in_default(_advice), "tables": _in_default(_tables), "info": _in_default(_info),
    "save": _both_modes(_saved), "check": _in_default(_checked), "unite": _in_default(_united),
    "diff": _in_default(_compared), "costs": _in_default(_flops_of_profile),
}  # fmt: skip


def _questions() -> list[Question]:
    made = []
    for form in sorted(PROFILES):
        for name, ask in _OF_PROFILES.items():
            part = "views" if "view" in name else "answers"
            made.append(Question(f"{name} of {form}", frozenset({form}), partial(ask, form), part,
                                 of_bytes=True))  # fmt: skip
    for form in sorted(_EXAMINED):
        examine = _EXAMINED[form]
        made.append(Question(f"doctor of {form}", frozenset({form}),
                             lambda data, examine=examine: all_of(examine(data)), "answers",
                             of_bytes=True))  # fmt: skip
    for form in sorted({*GRAPHS, "run_metadata", "op_log", "profile"}):
        made.append(Question(f"convert {form}", frozenset({form}), partial(_converted, form),
                             "answers", of_bytes=True))  # fmt: skip
    return made


def _cost(name: str, ask: Callable[[bytes], object]) -> Question:
    return Question(name, GRAPHS, ask, "costs", of_bytes=True)


QUESTIONS = (
    *_questions(),
    _cost("flops", _flops), _cost("flops of a batch", partial(_flops, batch=3)),
    _cost("params", _params), _cost("summary", _summary),
    *(Question(f"{name} of run_folder", frozenset({"run_folder"}),
               lambda path, use=use: _folder(path, use), "folders")
      for name, use in (("view", lambda one: view_of(one, "scope", _CHOICES["everything"])),
                        ("advice", _advice), ("info", _info), ("save", _saved))),
    *(Question(f"{name} of saved_model", frozenset({"saved_model"}),
               lambda path, use=use: _model(path, use), "folders")
      for name, use in (("flops", _flops), ("params", _params), ("summary", _summary),
                        ("profile", Profiler))),
)  # fmt: skip
