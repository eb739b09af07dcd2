"""tf.data bottleneck analysis: the iterator that makes the slowest calls of a pipeline slow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from tfprof.captures.events.ops.tf_data import SLOW_CALL_PS, Call, Iterator, Pipeline, TfData
from tfprof.captures.facts.one_step import spans_at
from tfprof.captures.facts.pipeline_stages import NO_STAGES, Stages, stages_of
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.facts.slow_iterators import (
    Held,
    are_looped_over,
    held_by,
    pipelines_of,
    told_pipelines,
    told_stages,
)
from tfprof.captures.facts.steps import Steps
from tfprof.captures.run import shared_columns as shared
from tfprof.captures.run.columns import amount, count, text, timed_by
from tfprof.captures.run.reference_json import reference_json
from tfprof.captures.run.result import Advice, Note, ToolResult, scope_of
from tfprof.captures.run.run import Host, Run
from tfprof.captures.run.table import Cell, Column, Table
from tfprof.captures.tools.iterator_advice import suggestion
from tfprof.captures.tools.pipeline_stages_table import stages_table
from tfprof.core.text import how_to_capture
from tfprof.core.text.claims import Claim, scoped, unknown

_PS_PER_US = 1_000_000

_PIPELINE = text("input_pipeline", "Input Pipeline", "name of the pipeline")

GRAPH = (
    shared.HOST,
    _PIPELINE,
    shared.RANK,
    Column("name", "Name", "string"),
    Column("parent", "Parent", "string"),
    Column("type", "Type"),
)
PIPELINES = timed_by(
    "host",
    shared.HOST,
    _PIPELINE,
    amount("min", "Min (us)", "us", "the shortest call"),
    amount("mean", "Avg (us)", "us", "a call on average"),
    amount("max", "Max (us)", "us", "the longest call"),
    count("num_calls", "# calls", "calls in the capture"),
    count("num_slow_calls", "# slow calls", "calls that took longer than 50 µs"),
)
BOTTLENECKS = timed_by(
    "host",
    shared.HOST,
    _PIPELINE,
    amount("max_latency", "Max Latency (us)", "us", "the longest call of the pipeline"),
    text("bottleneck", "Bottleneck", "iterator that takes the most of the slow calls"),
    text("suggestion", "Suggestion", "what helps against it"),
)
ITERATORS = timed_by(
    "host",
    shared.HOST,
    text("input_pipeline", "Input pipeline", "name of the pipeline"),
    text("iterator", "Iterator", "type of the iterator", links=("trace",)),
    amount("self_us", "Self time", "us",
           "its time in the slowest call, without that of iterators it calls; n/a if it ran at "
           "other times only"),
    amount("total_us", "Total time", "us", "its time in the slowest call"),
    count("calls", "Calls", "how often it was called in there"),
    text("role", "Role",
         "bottleneck, blocking if the call waited for it, not in this call, or empty"),
    text("long_name", "Long name", "the iterator with all that encloses it", links=("trace",)),
)  # fmt: skip

_SLOW = (
    "Some input pipelines took longer than 50 µs for an element. For each of them the slowest "
    "iterator is named, with what helps."
)
_FAST = (
    "No input pipeline took longer than 50 µs for an element on the hosts in this capture. If "
    f"the program is input-bound, other hosts may be the cause: {how_to_capture.OTHER_HOSTS}."
)
_NONE = f"No tf.data activity was recorded. If the program uses tf.data, {how_to_capture.LONGER}."

_LOOPED = (
    "A loop inside a function takes the elements of a dataset. What its iterators did is not taken "
    "apart, as the body of the loop is one of them: the overview has how long steps waited for "
    "input, and the trace has the iterators."
)


class SlowPipeline(NamedTuple):
    """A pipeline of a host with its slowest iterator."""

    host: Host
    data: TfData
    pipeline: Pipeline
    held: Held | None
    stages: Stages = NO_STAGES

    @property
    def call(self) -> Call:
        """Its slowest call."""
        return self.pipeline.calls[0]

    @property
    def bottleneck(self) -> int | None:
        """Number of the iterator that made that call slow."""
        return self.call.bottleneck


def tf_data(
    run: Run, *, host: str | None = None, step: Steps | None = None, classic: bool = False
) -> ToolResult:
    """Find what makes input pipelines slow.

    Args:
        run: The run.
        host: Only this host.
        step: Only calls that began in the step with this number, or in the steps with these
            numbers. Earlier steps made the elements that the pipeline prepared ahead.
        classic: The reference's numbers: all iterators with an unsigned number as id count as one.

    Raises:
        UsageError: There is no such host or step.
    """
    run = run.in_mode(classic=classic)
    hosts, rules = run.chosen(host), run.rules
    if step is None:
        pipelines = [
            SlowPipeline(one, told.data, pipeline, held, stages)
            for one in hosts
            for told in [told_pipelines(one)]
            for pipeline, held, stages in zip(
                told.data.pipelines, told.slowest, told_stages(one), strict=True
            )
        ]
    else:
        pipelines = in_step(run, hosts, step)
    of_hosts = sorted(
        (
            slow
            for slow in pipelines
            if not (rules.drops_pipelines_of_devices and slow.pipeline.feeds_device)
        ),
        key=lambda slow: -slow.pipeline.max_ps,
    )
    is_bound = bool(of_hosts) and of_hosts[0].pipeline.max_ps > SLOW_CALL_PS
    none = _LOOPED if not rules.ignores_loops and are_looped_over(hosts) else _NONE
    message = _SLOW if is_bound else _FAST if pipelines else none
    slow = [one for one in of_hosts if one.pipeline.max_ps > SLOW_CALL_PS]
    properties = {"is_input_bound": str(is_bound).lower(), "summary_message": message}
    tables = {
        "bottlenecks": _bottlenecks(of_hosts if rules.shows_fast_pipelines else slow, properties),
        "pipelines": _pipelines(pipelines),
        "stages": stages_table(
            [(one.host.name, one.pipeline.name, one.stages) for one in pipelines]
        ),
        "iterators": _iterators(pipelines),
    }
    notes = list(run.notes)
    if not pipelines:
        notes.append(Note("warning", none))
    notes += [
        Note("warning", f"the slowest call of {one.pipeline.name} has so many parts that not all "
             "were analysed: self times are too large. Is the file damaged?", one.host.name)
        for one in pipelines
        if one.call.is_cut
    ]  # fmt: skip
    return ToolResult(
        "tf-data",
        "tf.data bottleneck analysis",
        claims=scoped(
            [
                _answer(pipelines, of_hosts, message),
                *map(_claim, slow),
            ],
            scope_of([one.name for one in hosts], step),
            "calls of the last iterator of each pipeline",
        ),
        tables=tables,
        advice=tuple(advice for one in slow for advice in _advice(one)),
        notes=tuple(notes),
        gviz=reference_json(
            "tf_data",
            run,
            hosts,
            step,
            tables["pipelines"],
            partial(_bottlenecks, of_hosts, properties),
        ),
    )


def in_step(run: Run, hosts: Sequence[Host], step: Steps) -> list[SlowPipeline]:
    """Select the pipelines of some hosts, with the calls that began in a step."""
    steps = run_steps(run)
    spans = spans_at(steps, steps.places(step))
    chosen = []
    for host in hosts:
        data = pipelines_of(host)
        for pipeline in data.pipelines:
            calls = [
                call
                for call in pipeline.calls
                if any(begin <= call.start_ps < end for begin, end in spans.get(host.name, ()))
            ]
            if calls:
                within = replace(pipeline, calls=calls)
                is_one_call = run.rules.judges_slowest_call
                held = None if is_one_call else held_by(host, data, within, step)
                stages = stages_of(data, within, in_calls=True)
                chosen.append(SlowPipeline(host, data, within, held, stages))
    return chosen


def whole_us(ps: int) -> int:
    """Convert picoseconds to whole microseconds."""
    return ps // _PS_PER_US


def host_name(host: Host) -> str:
    """The name of a host in the tables."""
    return host.machine if host.rules.names_hosts_by_machine else host.name


def _answer(
    pipelines: Sequence[SlowPipeline], of_hosts: Sequence[SlowPipeline], message: str
) -> Claim:
    if not pipelines:
        return unknown("tf.data", "slowest_call", message)
    longest_ps = max((one.pipeline.max_ps for one in of_hosts), default=0)
    return Claim("tf.data", "slowest_call", whole_us(longest_ps), "us", words=message)


def _claim(slow: SlowPipeline) -> Claim:
    pipeline, held = slow.pipeline, slow.held
    details: dict[str, str | float] = {
        "host": slow.host.name, "slow_count": pipeline.n_slow, "call_count": len(pipeline.calls),
        "slow_from_us": whole_us(SLOW_CALL_PS),
    }  # fmt: skip
    words = (
        "{subject} on {host}: {slow_count} of {call_count} calls took longer than {slow_from_us},"
        " the slowest {value}."
    )
    parts = []
    if pipeline.is_first_slowest and not slow.host.rules.judges_slowest_call:
        details["next_us"] = whole_us(pipeline.calls[1].duration_ps)
        words += (
            " That was the first, when buffers may have been empty; the slowest of the others "
            "took {next_us}."
        )
    if held is not None:
        of_calls = "that call" if held.n_calls == 1 else "these {call_count} calls"
        parts.append(
            Claim(held.iterator.type, "self_share", held.share, "fraction",
                  details={"call_count": held.n_calls, "pipeline": pipeline.name},
                  words=f"{{subject}} took {{value}} of the time of {of_calls}.")
        )  # fmt: skip
        words += " {parts}"
    return Claim(pipeline.name, "slowest_call", whole_us(pipeline.max_ps), "us", details=details,
                 parts=tuple(parts), words=words)  # fmt: skip


def _advice(slow: SlowPipeline) -> list[Advice]:
    held = slow.held
    if held is None:
        return []
    is_alone = not _has_stages_below(slow.data, held.iterator)
    advised = suggestion(
        held.iterator.type, held.iterator.long_name, is_alone=is_alone,
        parallelism=held.iterator.parallelism, calls_python=held.calls_python,
    )  # fmt: skip
    evidence = {
        "host": slow.host.name,
        "pipeline": slow.pipeline.name,
        "iterator": held.iterator.long_name,
        "self_us": whole_us(held.self_ps),
        "calls_us": whole_us(held.calls_ps),
        "slow_calls": slow.pipeline.n_slow,
        "iterator_type": held.iterator.type,
        **advised.details,
    }
    return [Advice(f"tf-data/{advised.rule}", f"{{iterator_type}}: {advised.words}", evidence)]


def _pipelines(pipelines: Sequence[SlowPipeline]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            host_name(one.host),
            one.pipeline.name,
            whole_us(one.pipeline.min_ps),
            whole_us(one.pipeline.mean_ps),
            whole_us(one.pipeline.max_ps),
            len(one.pipeline.calls),
            one.pipeline.n_slow,
        )
        for one in pipelines
    ]
    return Table("pipelines", PIPELINES, rows, title="Input pipelines")


def _bottlenecks(slow: Sequence[SlowPipeline], properties: dict[str, str]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for one in slow:
        iterator, held = one.bottleneck, one.held
        slowest, took = None, ""
        if held is not None:
            slowest, took = held.iterator, f"{held.share:.1%} of the slow calls"
        elif iterator is not None:
            slowest = one.data.iterators[iterator]
            took = f"{whole_us(one.call.times[iterator].self_ps):,} µs"
        cell = f"{slowest.type} ({slowest.long_name}), {took}" if slowest else ""
        text = ""
        if slowest:
            by_type = one.host.rules.advises_by_type
            is_alone = not by_type and not _has_stages_below(one.data, slowest)
            parallelism = 0 if by_type else slowest.parallelism
            advised = suggestion(
                slowest.type, slowest.long_name, is_alone=is_alone, parallelism=parallelism,
                calls_python=held is not None and held.calls_python,
            )  # fmt: skip
            text = advised.words.format_map(advised.details)
        host = host_name(one.host)
        rows.append((host, one.pipeline.name, whole_us(one.pipeline.max_ps), cell, text))
    return Table("bottlenecks", BOTTLENECKS, rows, properties, title="Bottlenecks")


def _iterators(pipelines: Sequence[SlowPipeline]) -> Table:
    """The slowest call of each pipeline, iterator by iterator."""
    rows: list[tuple[Cell, ...]] = []
    for one in pipelines:
        order = sorted(one.call.times.items(), key=lambda item: (-item[1].self_ps, item[0]))
        for iterator, times in order:
            known = one.data.iterators.get(iterator)
            role = "blocking" if times.is_blocking else ""
            rows.append((
                one.host.name,
                one.pipeline.name,
                known.type if known else str(iterator),
                times.self_ps / _PS_PER_US,
                times.duration_ps / _PS_PER_US,
                times.n_calls,
                "bottleneck" if iterator == one.bottleneck else role,
                known.long_name if known else "",
            ))  # fmt: skip
        for stage in _other_stages(one):
            rows.append((
                one.host.name, one.pipeline.name, stage.type, None, None, 0, "not in this call",
                stage.long_name,
            ))  # fmt: skip
    return Table("iterators", ITERATORS, rows, title="The slowest call of each pipeline")


def _other_stages(slow: SlowPipeline) -> list[Iterator]:
    """Stages that the slowest call of a pipeline did not wait for: they ran at other times."""
    iterators, times = slow.data.iterators, slow.call.times
    is_inside = dict.fromkeys((slow.pipeline.root, *times), True)

    def of_pipeline(number: int) -> bool:
        path: list[int] = []
        while number not in is_inside and number in iterators and number not in path:
            path.append(number)
            number = iterators[number].parent_id
        found = is_inside.get(number, False)
        is_inside.update(dict.fromkeys(path, found))
        return found

    others = [one for number, one in iterators.items() if number not in times]
    return sorted((one for one in others if of_pipeline(one.id)), key=lambda one: one.long_name)


def _has_stages_below(data: TfData, iterator: Iterator) -> bool:
    return any(one.parent_id == iterator.id for one in data.iterators.values())
