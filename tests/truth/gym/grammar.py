"""The grammar of programs: a program is a term, which a seed draws and which can be made smaller.

Terms are plain frozen data, so that a failing one is kept as JSON and recorded again.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

FRAMEWORKS = {"tf": 6, "eager": 3, "keras": 6, "session": 1, "jax": 8}
"""How often each is drawn."""

BODIES = {
    "tf": ("products", "while", "compiled", "nested", "asleep", "two"),
    "eager": ("products", "tiny"),
    "keras": ("fit", "fit_validated", "evaluate", "predict", "train_on_batch"),
    "session": ("products",),
    "jax": ("jit", "scan", "while", "two", "tiny", "pmap", "shard_map"),
}
"""What computes in a step; the first is the plainest."""

MARKS = ("all", "compute", "none", "nested", "eval")
"""Around all of a step; around the computation only, the input before it; nowhere; around all, and
an epoch's mark around the marks; marks of training and of evaluation in turn."""

FETCHES = ("now", "late", "after", "end", "never")
"""When results are waited for: in the step; in the next one; behind the mark; at the end; after the
capture. With TensorFlow on the CPU a call returns when it has computed, so all are alike."""

INPUTS = ("none", "tfdata", "python", "thread", "callback", "in_function")
"""One batch for all steps; an iterator of tf.data; a Python generator; a queue that a thread fills;
a callback in the compiled function; a loop over a dataset in a ``tf.function``."""

MAPS = ("map", "native", "tfrecord")
"""Costs of functions that a dataset maps, and may map in parallel."""

COSTS = ("none", "map", "native", "generator", "interleave", "tfrecord")
"""What is slow in a pipeline of tf.data: nothing, a Python function in map, ops in map, a
generator, the function of an interleave, or a map behind TFRecord files."""

CULPRITS = {
    "map": ("Map",), "native": ("Map",), "generator": ("Generator", "FlatMap"),
    "interleave": ("Interleave", "Map"), "tfrecord": ("Map",), "none": (),
}  # fmt: skip
"""Types of the iterators in which the time goes, without Parallel and versions."""

DISTURBANCES = (
    "callback", "checkpoint", "evaluation", "gc", "recompile", "slow_step", "copies", "tiny_ops",
    "python", "straggler",
)  # fmt: skip
"""Between steps: a sleep after each, a file every few, a computation every few, a collection of
garbage every few. In steps: a function compiled or traced anew, one that waits long, copies of
arrays, many small ops, a sleep of the program in each; with several processes, a sleep of the
second one in each."""

DEVICES = ("one", "mirrored", "processes")
"""One, several of one process (bodies of JAX have theirs), or two processes that train together."""


@dataclass(frozen=True)
class Input:
    """Where batches come from.

    Attributes:
        kind: One of ``INPUTS``.
        cost: What is slow in a pipeline, one of ``COSTS``.
        sleep_ms: How long a batch takes to make.
        parallel: How many calls of the map at once.
        prefetch: Whether the pipeline ends with a prefetch.
        cache: Whether there is a cache behind what is slow, full before the capture begins.
        anew: An iterator for so many steps, then another; 0 is one for all.
    """

    kind: str = "none"
    cost: str = "none"
    sleep_ms: float = 0.0
    parallel: int = 1
    prefetch: bool = False
    cache: bool = False
    anew: int = 0


@dataclass(frozen=True)
class Term:
    """A program.

    Attributes:
        framework: One of ``FRAMEWORKS``.
        body: What a step computes, one of ``BODIES``.
        backend: Of Keras: ``tensorflow`` or ``jax``; otherwise the framework's own.
        width: Rows of the matrices.
        count: Products of matrices in a step.
        n_steps: Steps in the capture.
        marks: One of ``MARKS``; Keras has its own.
        fetch: One of ``FETCHES``.
        input: Where batches come from.
        disturbances: Some of ``DISTURBANCES``.
        devices: One of ``DEVICES``.
        together: Batches in one call of Keras (``steps_per_execution``).
        host_tracer: How much the capture records of threads: nothing, what was marked, or ops.
        python_tracer: Whether the capture records functions of Python.
    """

    framework: str = "tf"
    body: str = "products"
    backend: str = ""
    width: int = 256
    count: int = 4
    n_steps: int = 12
    marks: str = "all"
    fetch: str = "now"
    input: Input = field(default_factory=Input)
    disturbances: tuple[str, ...] = ()
    devices: str = "one"
    together: int = 1
    host_tracer: int = 2
    python_tracer: bool = False

    @property
    def process(self) -> str:
        """The kind of process that can record it."""
        if self.framework == "keras":
            return f"keras_{self.backend}"
        kind = "jax" if self.framework == "jax" else "tensorflow"
        return f"{kind}_together" if self.devices == "processes" else kind

    @property
    def communicates(self) -> bool:
        """Whether its devices work together in a step."""
        return self.devices != "one" or self.body in ("pmap", "shard_map")

    def to_json(self) -> str:
        """The term as JSON."""
        return json.dumps(asdict(self))


def from_json(text: str) -> Term:
    """The term of such a text."""
    data: dict[str, Any] = json.loads(text)
    return Term(
        **data
        | {"input": Input(**data["input"]), "disturbances": tuple(data["disturbances"])}
    )  # fmt: skip


_DEVICES = {"tf": (8, 1, 2), "jax": (9, 0, 1)}
"""How often each of ``DEVICES`` is drawn."""


def draw(seed: int) -> Term:
    """The program of a seed."""
    by = random.Random(seed)
    framework = by.choices([*FRAMEWORKS], [*FRAMEWORKS.values()])[0]
    body = by.choice(BODIES[framework])
    term = Term(
        framework, body,
        backend=by.choice(("tensorflow", "jax")) if framework == "keras" else "",
        width=by.choice((160, 256, 384)),
        count=by.randint(1, 6),
        n_steps=by.randint(8, 30),
        marks=by.choices(MARKS, (5, 5, 3, 1, 2))[0],
        fetch=by.choices(FETCHES, (6, 4, 3, 2, 1))[0],
        input=_input(by, framework),
        disturbances=_disturbances(by),
        devices=by.choices(DEVICES, _DEVICES.get(framework, (1, 0, 0)))[0],
        together=by.choice((1, 1, 1, 4)),
        host_tracer=by.choices((0, 1, 2), (1, 1, 20))[0],
        python_tracer=by.random() < (0.8 if framework == "jax" else 0.2),
    )  # fmt: skip
    return allowed(term)


def _input(by: random.Random, framework: str) -> Input:
    kind = by.choices(INPUTS, (3, 6, 2, 2, 2, 1))[0]
    if kind == "none":
        return Input()
    cost = "map"
    if kind in ("tfdata", "in_function"):
        cost = by.choices(COSTS, (1, 5, 1, 2, 2, 1))[0]
    return Input(
        kind, cost, float(by.choice((1, 3, 6, 12))),
        parallel=by.choice((1, 1, 4)),
        prefetch=by.random() < 0.4,
        cache=by.random() < 0.15,
        anew=by.choice((0, 0, 0, 4)),
    )  # fmt: skip


def _disturbances(by: random.Random) -> tuple[str, ...]:
    count = by.choices((0, 1, 2), (5, 4, 1))[0]
    return tuple(sorted(by.sample(DISTURBANCES, count)))


_PLAIN_KERAS = ("callback", "checkpoint", "gc", "slow_step")


def allowed(term: Term) -> Term:
    """The nearest program that there is: not every framework has every part."""
    how, body, given = term.disturbances, term.body, term.input
    if term.framework == "keras":
        how = tuple(one for one in how if one in _PLAIN_KERAS)
        if body == "train_on_batch":
            how = tuple(one for one in how if one != "checkpoint")
        if body in ("evaluate", "predict"):
            how = tuple(one for one in how if one in ("callback", "slow_step"))
        kind = given.kind if given.kind in ("none", "tfdata", "python") else "tfdata"
        given = _matching(replace(given, kind=kind, anew=0))
        own_loop = body == "train_on_batch"
        return replace(
            term, input=given, disturbances=how, devices="one", fetch="now",
            marks="none" if not own_loop or term.marks == "nested" else term.marks,
            together=1 if own_loop or body == "fit_validated" else term.together,
        )  # fmt: skip
    term = replace(term, together=1, backend="")
    if term.devices == "processes" and term.framework in ("tf", "jax"):
        return _of_processes(term)
    how = tuple(one for one in how if one != "straggler")
    if given.kind == "in_function" and (term.framework != "tf" or term.devices != "one"):
        given = replace(given, kind="tfdata")
    if given.kind == "callback" and term.framework not in ("jax", "tf"):
        given = replace(given, kind="python")
    if given.kind == "callback" and body in ("compiled", "tiny", "pmap", "shard_map", "two"):
        body = BODIES[term.framework][0]
    if given.kind == "callback" and term.devices != "one":
        given = replace(given, kind="python")
    if given.kind == "in_function":
        body = "products"
        given = replace(given, anew=0, cache=False)
        how = tuple(one for one in how if one in ("callback", "gc", "checkpoint"))
        term = replace(term, marks="all" if term.marks == "compute" else term.marks)
    if term.framework == "session":
        if given.kind not in ("none", "python", "thread"):
            given = replace(given, kind="python")
        how = tuple(one for one in how if one in ("callback", "gc", "checkpoint", "python"))
        term = replace(term, marks="none" if term.marks == "eval" else term.marks)
    if term.devices == "mirrored":
        body = "products"
        how = tuple(one for one in how if one not in ("recompile", "copies"))
    if term.framework == "eager":
        how = tuple(one for one in how if one != "recompile")
    if term.framework == "tf" and body not in ("products", "compiled"):
        how = tuple(one for one in how if one != "recompile")
    if term.framework == "jax" and body in ("pmap", "shard_map", "tiny"):
        how = tuple(one for one in how if one != "recompile")
    if term.framework != "jax" and term.fetch == "never":
        term = replace(term, fetch="now")
    return replace(term, body=body, input=_matching(given), disturbances=how)


def _of_processes(term: Term) -> Term:
    """What two processes do alike: all that makes one of them slower is a straggler."""
    kept = ("callback", "python", "straggler", "slow_step")
    given = term.input if term.input.kind in ("none", "python", "thread") else Input()
    marks = "all" if term.marks in ("none", "nested", "eval") else term.marks
    return replace(
        term, body=BODIES[term.framework][0], marks=marks, fetch="now", input=_matching(given),
        disturbances=tuple(one for one in term.disturbances if one in kept),
    )  # fmt: skip


def _matching(given: Input) -> Input:
    """The input without what its kind does not have."""
    if given.kind == "none":
        return Input()
    if given.kind not in ("tfdata", "in_function"):
        given = replace(given, cost="map", cache=False, prefetch=False)
    if given.kind not in ("tfdata", "in_function") or given.cost not in MAPS:
        given = replace(given, parallel=1)
    return given if given.kind == "tfdata" else replace(given, anew=0)


def smaller(term: Term) -> Iterator[Term]:
    """Programs with one part less, the largest parts first; each is ``allowed``."""
    found = [replace(term, disturbances=tuple(d for d in term.disturbances if d != one))
             for one in term.disturbances]  # fmt: skip
    if term.input.kind != "none":
        found.append(replace(term, input=Input()))
        found += [
            replace(term, input=replace(term.input, **{one.name: one.default}))
            for one in fields(Input)
            if one.name not in ("kind", "sleep_ms", "cost")
        ]
        found.append(replace(term, input=replace(term.input, cost="map")))
    found += [
        replace(term, devices="one"),
        replace(term, marks="all"),
        replace(term, fetch="now"),
        replace(term, together=1),
        replace(term, host_tracer=2),
        replace(term, python_tracer=term.framework == "jax"),
        replace(term, body=BODIES[term.framework][0]),
        replace(term, n_steps=max(8, term.n_steps // 2)),
        replace(term, count=max(1, term.count // 2)),
    ]
    seen = {term}
    for one in map(allowed, found):
        if one not in seen:
            seen.add(one)
            yield one
