"""Advice on collectives: overlap them with computation, and combine small ones.

Each piece is about the part of a step that it may save at most, and none is given where the program
leaves nothing to gain: where no computation could run meanwhile, or where it already does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tfprof.captures.facts.environment import environment
from tfprof.captures.facts.framework import words_for
from tfprof.captures.facts.run_collectives import RunCollective
from tfprof.captures.facts.step_collectives import StepCollectives
from tfprof.captures.run.result import Advice
from tfprof.core.columns.findings import WORTH

SMALL_BYTES = 1 << 20
"""Below this size, the time of a collective hardly depends on its size."""

MANY = 4
"""So many small collectives are worth combining."""

_COMBINED = ("all-reduce", "all-gather", "reduce-scatter")
_HELD_ON = {"GPU", "TPU"}
"""Hardware on which collectives may run beside computation. Devices of a CPU share its cores."""

_AS_ONE: Mapping[str, str] = {
    "JAX": "flatten them into one array (jax.flatten_util.ravel_pytree) before the exchange",
    "TensorFlow": "in packs (tf.distribute.experimental.CommunicationOptions(bytes_per_pack=…))",
}

_PS_PER_MS = 1e9


def advice_on(known: StepCollectives) -> Iterator[Advice]:
    """Advice on collectives, if it is about enough of the time of a step; none without steps."""
    found, step_ps = known.found, known.step_ps
    if not step_ps:
        return
    hardware = environment(known.run).hardware
    framework = words_for(known.run.hosts).framework
    for one in (
        _on_compute_stream(found, step_ps),
        _serial(found, step_ps, hardware) if hardware in _HELD_ON else None,
        _small(found, step_ps, framework),
    ):
        if one is not None and min(one.share or 0.0, one.gain_fraction or 0.0) >= WORTH:
            yield one


def _bare_ps(one: RunCollective) -> float:
    """The exposed time that does not depend on late devices, as far as that is known."""
    return one.exposed_ps if one.bare_transfer_ps is None else one.bare_transfer_ps


def _hidden_at_most_ps(found: Sequence[RunCollective]) -> float:
    """Exposed time that computation could hide, which hides only one collective at a time."""
    by_home: dict[tuple[str, str], list[RunCollective]] = {}
    for one in found:
        by_home.setdefault((one.place.program, one.place.computation), []).append(one)
    return sum(
        min(
            sum(min(_bare_ps(one), one.ready_ps or 0.0) for one in alike),
            max(one.ready_ps or 0.0 for one in alike),
        )
        for alike in by_home.values()
    )


def _to_overlap(
    rule: str, words: str, found: Sequence[RunCollective], step_ps: float
) -> Advice | None:
    """Advice to let computation run during some collectives; None without any."""
    if not found:
        return None
    top = max(found, key=_bare_ps)
    exposed, gain = sum(map(_bare_ps, found)), _hidden_at_most_ps(found)
    return Advice(
        rule, words,
        {"exposed_share": exposed / step_ps, "op": top.place.name,
         "op_ms": _bare_ps(top) / _PS_PER_MS,
         "ready_ms": max(one.ready_ps or 0.0 for one in found) / _PS_PER_MS,
         "collective_count": len(found)},
        min(gain / step_ps, 1.0),
        min(exposed / step_ps, 1.0),
    )  # fmt: skip


def _on_compute_stream(found: Sequence[RunCollective], step_ps: float) -> Advice | None:
    """Collectives on the stream of computations, which wait for each other there."""
    return _to_overlap(
        "collectives/compute-stream",
        "{exposed_share} of the step time are collectives on the stream of the computations, so "
        "that neither runs beside the other; the longest is {op:folded}, {op_ms} in a step. "
        "Computation that does not need their results runs after them, {ready_ms} in a step. Let "
        "XLA run it meanwhile: with --xla_gpu_enable_latency_hiding_scheduler=true, and without "
        "their names in --xla_gpu_disable_async_collectives (in XLA_FLAGS).",
        [one for one in found if one.collective.is_with_compute and one.ready_ps],
        step_ps,
    )


def _is_serial(one: RunCollective) -> bool:
    """Whether independent computation stands after a collective, and none in it."""
    exchange = one.place.exchange
    is_filled = exchange is not None and exchange.hidden_by > 0
    return bool(one.ready_ps) and not is_filled and not one.collective.is_with_compute


def _serial(found: Sequence[RunCollective], step_ps: float, hardware: str) -> Advice | None:
    """Collectives that end before computation that does not need them begins."""
    how = (
        "with --xla_gpu_enable_latency_hiding_scheduler=true (in XLA_FLAGS)"
        if hardware == "GPU"
        else "with --xla_tpu_enable_async_collective_fusion=true and "
        "--xla_tpu_overlap_compute_collective_tc=true (in LIBTPU_INIT_ARGS)"
    )
    return _to_overlap(
        "collectives/serial",
        "{exposed_share} of the step time are collectives during which a device computes nothing, "
        "though computation that does not need their results runs after them, {ready_ms} in a "
        "step; the longest is {op:folded}, {op_ms}. Let that computation run meanwhile: exchange "
        "the gradients of a layer as soon as they are there, and let XLA overlap them, "
        f"{how}.",
        list(filter(_is_serial, found)),
        step_ps,
    )


def _small(found: Sequence[RunCollective], step_ps: float, framework: str) -> Advice | None:
    """Many small collectives among the same devices, none of which needs another one."""
    alike: dict[tuple[object, ...], list[RunCollective]] = {}
    for one in found:
        place, exchange = one.place, one.place.exchange
        if exchange is None or exchange.n_bytes is None or not place.is_free:
            continue
        if exchange.opcode in _COMBINED and exchange.n_bytes < SMALL_BYTES:
            key = (place.program, place.computation, exchange.opcode, exchange.groups,
                   exchange.element_type)  # fmt: skip
            alike.setdefault(key, []).append(one)
    many = [own for own in alike.values() if len(own) >= MANY]
    if not many:
        return None
    own = max(many, key=lambda some: sum(map(_bare_ps, some)))
    times = sorted(map(_bare_ps, own))
    exchanges = [one.place.exchange for one in own]
    sizes = [one.n_bytes or 0 for one in exchanges if one is not None]
    opcode = exchanges[0].opcode if exchanges[0] is not None else ""
    as_one = _AS_ONE.get(framework, "as one array")
    return Advice(
        "collectives/small",
        "{exposed_share} of the step time goes to {collective_count} small exchanges of one kind, "
        "{opcode}, {mean_bytes} each on average, among the same devices; none needs the result of "
        "another one. At this size each takes about as long as a larger one. Exchange their arrays "
        f"together: {as_one}.",
        {"exposed_share": sum(times) / step_ps, "collective_count": len(own), "opcode": opcode,
         "mean_bytes": sum(sizes) / len(sizes), "op": own[0].place.name,
         "total_bytes": sum(sizes)},
        min(sum(times[:-1]) / step_ps, 1.0),
        min(sum(times) / step_ps, 1.0),
    )  # fmt: skip
