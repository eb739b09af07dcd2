"""Captures and programs in which one thing grows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests import hlo_programs
from tests.core.wire.random_messages import length_delimited, varint
from tfprof.core.wire import messages as pb
from tfprof.testing.xspace_builders import Value, event, gpu, host, line, plane, xspace

_FEW = 64
"""Pieces that are made to find out how large one is."""


def _of_events(
    *pieces: Callable[[int], Any], where: Callable[..., pb.XPlane] = host
) -> Callable[[int], bytes]:
    """A capture of so many events of the kind that the functions make of an event's number."""

    def whole(n: int) -> bytes:
        main = line(*[piece(place) for place in range(n) for piece in pieces], name="main")
        return xspace(where(main)).SerializeToString()

    return _of_size(whole)


def _of_size(whole: Callable[[int], bytes]) -> Callable[[int], bytes]:
    """Makes so many pieces that there are about so many bytes."""

    def made(n_bytes: int) -> bytes:
        few, more = len(whole(_FEW)), len(whole(2 * _FEW))
        return whole(max(1, round((n_bytes - 2 * few + more) * _FEW / (more - few))))

    return made


def _step(place: int) -> Any:
    return event("train", 1000 * place, 900, step_num=place, _r=1)


def _nested(n: int) -> bytes:
    events = [event("f", place, 2 * (n - place)) for place in range(n)]
    return xspace(host(line(*events))).SerializeToString()


def _overlapping(place: int) -> Any:
    return event(f"f{place % 7}", place, 1_000_000)


def _allocation(name: str, sign: int, at: int) -> Callable[[int], Any]:
    def made(place: int) -> Any:
        stats: dict[str, Value] = {
            "allocator_name": name.format(place), "bytes_allocated": 64, "bytes_reserved": 0,
            "bytes_available": 36, "fragmentation": 0.25, "peak_bytes_in_use": 64,
            "requested_bytes": 60, "allocation_bytes": 64, "addr": 4096 + place,
            "tf_op": "a/b:MatMul", "data_type": 1, "shape": "[4]", "region_type": "output",
        }  # fmt: skip
        kind = "MemoryAllocation" if sign > 0 else "MemoryDeallocation"
        return event(kind, 10 * place + at, 0, **stats)

    return made


def _kernel(place: int) -> Any:
    details = "regs:32 static_shared:0 dynamic_shared:64 grid:8,1,1 block:256,1,1 occ_pct:100"
    return event(
        f"sgemm_{place % 50}", 100 * place, 90, correlation_id=place, kernel_details=details,
        hlo_op=f"fusion.{place % 50}", hlo_module="jit", program_id=3,
    )  # fmt: skip


def _launch(place: int) -> Any:
    return event("Launch", 10 * place, 5, _pt=1, _p=place, _ct=1, _c=place + 1)


def _collective(place: int) -> Any:
    return event("ncclAllReduce", 100 * place, 90, correlation_id=place, group_id=place)


def _request(place: int) -> Any:
    return event("serve", 100 * place, 90, request_id=place, _r=1)


def _frame(place: int) -> Any:
    return event(f"$a{place}.py:{place} f{place}", 10 * place, 5)


def _iterator(place: int) -> Any:
    return event("Iterator::Root::Prefetch", 10 * place, 5, id=place, parent_id=place - 1)


def _compile(place: int) -> Any:
    return event("train_step", 10 * place, 5, tf_function_call="traced-xla", tracing_count=place)


def _planes(name: str) -> Callable[[int], bytes]:
    def whole(n: int) -> bytes:
        planes = [plane(name.format(place), line(_step(0))) for place in range(n)]
        return xspace(*planes).SerializeToString()

    return _of_size(whole)


def _lines(n: int) -> bytes:
    lines = [line(_step(0), id=place, name=f"thread {place}") for place in range(n)]
    return xspace(host(*lines)).SerializeToString()


def _remarks(field: str) -> Callable[[int], bytes]:
    def whole(n: int) -> bytes:
        space = xspace(host(line(_step(0))))
        getattr(space, field).extend(f"remark {place}" for place in range(n))
        return space.SerializeToString()

    return _of_size(whole)


def _one_name(n_bytes: int) -> bytes:
    return xspace(host(line(event("a/b:" + "x" * n_bytes, 0, 9)))).SerializeToString()


def _one_stat(n_bytes: int) -> bytes:
    return xspace(
        host(line(event("f", 0, 9, long_name="a=b," * (n_bytes // 4))))
    ).SerializeToString()


def _empty_events(n_bytes: int) -> bytes:
    """Events of two bytes: the smallest there are."""
    names = pb.XPlane(name="/device:GPU:0").SerializeToString()
    events = length_delimited(4, b"") * (n_bytes // 2)
    inside = names + length_delimited(3, events)
    return length_delimited(1, inside)


def _stats(n: int) -> bytes:
    stats: dict[str, Value] = {f"s{place}": place for place in range(n)}
    return xspace(host(line(event("f", 0, 9, **stats)))).SerializeToString()


GROWING_XSPACE: Mapping[str, Callable[[int], bytes]] = {
    "steps": _of_events(_step),
    "names": _of_events(lambda place: event(f"a{place}:b", 10 * place, 5)),
    "name scopes": _of_events(lambda place: event("/".join("abc" * (place % 20)), 10 * place, 5)),
    "nesting": _of_size(_nested),
    "overlapping": _of_events(_overlapping),
    "overlapping on a device": _of_events(_overlapping, where=gpu),
    "kernels": _of_events(_kernel, where=gpu),
    "collectives": _of_events(_collective, where=gpu),
    "allocations": _of_events(_allocation("gpu", 1, 0), _allocation("gpu", -1, 5)),
    "allocations that stay": _of_events(_allocation("gpu", 1, 0)),
    "allocators": _of_events(_allocation("gpu {}", 1, 0)),
    "links": _of_events(_launch),
    "requests": _of_events(_request),
    "Python frames": _of_events(_frame),
    "iterators": _of_events(_iterator),
    "compilations": _of_events(_compile),
    "lines": _of_size(_lines),
    "planes": _planes("plane {}"),
    "GPUs": _planes("/device:GPU:{}"),
    "TPUs": _planes("/device:TPU:{}"),
    "errors": _remarks("errors"),
    "warnings": _remarks("warnings"),
    "host names": _remarks("hostnames"),
    "one name": _one_name,
    "one text": _one_stat,
    "stats of an event": _of_size(_stats),
    "empty events": _empty_events,
}
"""By what grows."""


def _program(n: int, instruction: Callable[[int], Any], **also: Any) -> bytes:
    first = [hlo_programs.op("i0", "parameter", "f32[4]")]
    main = [*first, *(instruction(place) for place in range(1, n))]
    return bytes(hlo_programs.program("main", **also, main=main).SerializeToString())


def _chain(place: int) -> Any:
    return hlo_programs.op(f"i{place}", "negate", "f32[4]", f"i{place - 1}")


def _tree(place: int) -> Any:
    """Each one uses the one before twice."""
    return hlo_programs.op(f"i{place}", "add", "f32[4]", f"i{place - 1}", f"i{place - 1}")


def _fan(place: int) -> Any:
    return hlo_programs.op(f"i{place}", "negate", "f32[4]", "i0")


def _one_user(n: int) -> bytes:
    tuple_of_all = hlo_programs.op("t", "tuple", "f32[4]", *["i0"] * n)
    first = hlo_programs.op("i0", "parameter", "f32[4]")
    return bytes(hlo_programs.program("main", main=[first, tuple_of_all]).SerializeToString())


def _calls(n: int) -> bytes:
    """Each computation calls the one before."""
    computations = {"c0": [hlo_programs.op("x", "parameter", "f32[4]")]}
    for place in range(1, n):
        called = hlo_programs.op("y", "fusion", "f32[4]", "x", calls=[f"c{place - 1}"])
        computations[f"c{place}"] = [hlo_programs.op("x", "parameter", "f32[4]"), called]
    return bytes(hlo_programs.program(f"c{n - 1}", **computations).SerializeToString())


def _dimensions(n_bytes: int) -> bytes:
    shape = f"f32[{','.join('2' * (n_bytes // 2))}]"
    main = [hlo_programs.op("p", "parameter", shape)]
    return bytes(hlo_programs.program("main", main=main).SerializeToString())


def _one_instruction_name(n_bytes: int) -> bytes:
    main = [hlo_programs.op("p" * n_bytes, "parameter", "f32[4]")]
    return bytes(hlo_programs.program("main", main=main).SerializeToString())


def _deep_shape(n_bytes: int) -> bytes:
    """Tuples in tuples, as deep as protobuf reads them, side by side."""
    deep = b""
    for _ in range(80):
        deep = varint(2 << 3) + varint(13) + length_delimited(4, deep)
    proto = hlo_programs.program("main", main=[hlo_programs.op("p", "parameter", "f32[4]")])
    shape = proto.hlo_module.computations[0].instructions[0].shape
    shape.Clear()
    shape.MergeFromString(
        varint(2 << 3) + varint(13) + length_delimited(4, deep) * (n_bytes // 600)
    )
    return bytes(proto.SerializeToString())


GROWING_HLO: Mapping[str, Callable[[int], bytes]] = {
    "a chain": _of_size(lambda n: _program(n, _chain)),
    "a tree": _of_size(lambda n: _program(n, _tree)),
    "users of one": _of_size(lambda n: _program(n, _fan)),
    "operands of one": _of_size(_one_user),
    "nested calls": _of_size(_calls),
    "dimensions": _dimensions,
    "one name": _one_instruction_name,
    "nested shapes": _deep_shape,
}
"""By what grows."""
