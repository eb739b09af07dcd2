"""Captures of CUDA graphs, made of the events of real captures without graphs.

No public capture has kernels inside graphs. So the kernels of public captures, of JAX on AMD GPUs
and of TensorFlow on V100s, are regrouped as CUPTI's collector writes graphs
(``cupti_collector.cc``).

Real are the kernels with their names, times, order and ops, and the programs. Made are the graphs:
which kernels are in one, their ids, the one call that launches them, and what annotations are kept.
"""

from collections import Counter
from typing import NamedTuple

from tfprof.core.wire import messages as pb

ANNOTATION = ("hlo_op", "hlo_module", "program_id", "tf_op", "name", "prefix", "annotation")
MODULE = ("hlo_module", "program_id")


class Kernel(NamedTuple):
    """A kernel of the real capture: its event, with its stats by name."""

    event: object
    name: str
    stats: dict


class Made(NamedTuple):
    """A capture of graphs, and for each device the start and true op of each kernel inside one."""

    space: pb.XSpace
    truth: dict[str, list[tuple[int, str, int, tuple[str, str]]]]


def regrouped(path, *, labelled="none", launch=MODULE, copies=1):
    """Put the kernels of each run of a program, or of each device, into a graph.

    Args:
        path: The real capture.
        labelled: Which launches keep the annotations of their kernels: "all", "none", or "first",
            the first launch of each graph.
        launch: Stats of the first kernel that the launch's annotation has, which is that of
            kernels without their own. The call itself has none: the collector clears it.
        copies: How often all kernels ran; copies follow one after the other.
    """
    space = pb.XSpace.FromString(path.read_bytes())
    truth = {}
    calls, launched = {}, set()
    for plane in space.planes:
        if not plane.name.startswith("/device:GPU:"):
            continue
        names = _Names(plane)
        kernels = _kernels(plane, names)
        launches = [run for run in _runs(kernels) if run]
        graphs, seen, of_plane = {}, Counter(), []
        first = list(launches)
        last_ps = max((one.event.offset_ps + one.event.duration_ps for one in kernels), default=0)
        for number in range(1, copies):
            launches += _repeated(plane, first, number * last_ps)
        for number, run in enumerate(launches):
            key = tuple((one.name, _op(one)) for one in run)
            graph = graphs.setdefault(key, 1000 * (1 + len(truth)) + len(graphs))
            keeps = labelled == "all" or (labelled == "first" and not seen[graph])
            seen[graph] += 1
            correlation = 1_000_000 * (1 + len(truth)) + number
            of_launch = {name: run[0].stats[name] for name in launch if name in run[0].stats}
            calls[run[0].stats["correlation_id"], number] = (graph, correlation)
            launched |= {one.stats["correlation_id"] for one in run}
            for node, one in enumerate(run, 1):
                of_plane.append((one.event.offset_ps, one.name, one.event.duration_ps, _op(one)))
                kept = {k: v for k, v in one.stats.items() if keeps or k not in ANNOTATION}
                shared = {} if keeps else of_launch
                ids = {
                    "correlation_id": correlation,
                    "cuda_graph_id": graph,
                    "cuda_graph_node_id": 100 * graph + node,
                }
                names.write(one.event, kept | shared | ids)
        truth[plane.name] = sorted(of_plane)
    _launch(space, calls, launched)
    return Made(space, truth)


def _op(kernel):
    stats = kernel.stats
    if "hlo_op" in stats:
        return f"{stats['hlo_module']}({stats['program_id']})", stats["hlo_op"]
    return "", stats["tf_op"]


def _kernels(plane, names):
    found = []
    for line in plane.lines:
        for event in line.events:
            one = Kernel(event, names.events[event.metadata_id], names.read(event))
            if "kernel_details" in one.stats and {"hlo_op", "tf_op"} & one.stats.keys():
                found.append(one)
    return sorted(found, key=lambda one: one.event.offset_ps)


def _runs(kernels):
    """Kernels of one run of a program; without programs, all kernels of the device."""
    run, seen, program = [], set(), None
    for one in kernels:
        own, kernel = _op(one)[0], (one.name, _op(one))
        if run and (own != program or (own and kernel in seen)):
            yield run
            run, seen = [], set()
        run.append(one)
        seen.add(kernel)
        program = own
    yield run


def _repeated(plane, launches, later_ps):
    """The same kernels once more, later."""
    by_event = {id(one.event): one for run in launches for one in run}
    again = {}
    for line in plane.lines:
        for event in [each for each in line.events if id(each) in by_event]:
            added = line.events.add()
            added.CopyFrom(event)
            added.offset_ps += later_ps
            again[id(event)] = by_event[id(event)]._replace(event=added)
    return [[again[id(one.event)] for one in run] for run in launches]


def _launch(space, calls, launched):
    """One call in place of those that launched the kernels."""
    plane = next(one for one in space.planes if one.name == "/host:CPU")
    names = _Names(plane)
    of_first = {first: [] for first, _ in calls}
    for (first, _), call in calls.items():
        of_first[first].append(call)
    for line in plane.lines:
        for event in list(line.events):
            correlation = names.read(event).get("correlation_id")
            if correlation not in launched:
                continue
            for graph, new in of_first.get(correlation, ()):
                added = line.events.add(offset_ps=event.offset_ps, duration_ps=event.duration_ps)
                added.metadata_id = names.event(f"cuGraphLaunch (CudaGraph:{graph})")
                names.write(added, {"correlation_id": new, "cuda_graph_id": graph})
            line.events.remove(event)


class _Names:
    """Names of the events and stats of a plane."""

    def __init__(self, plane):
        self._plane = plane
        self.events = {key: one.name for key, one in plane.event_metadata.items()}
        self._stats = {key: one.name for key, one in plane.stat_metadata.items()}

    def read(self, event):
        stats = {}
        for one in event.stats:
            kind = one.WhichOneof("value")
            value = getattr(one, kind)
            stats[self._stats[one.metadata_id]] = (
                self._stats[value] if kind == "ref_value" else value
            )
        return stats

    def event(self, name):
        return self._number(self._plane.event_metadata, self.events, name)

    def write(self, event, stats):
        del event.stats[:]
        for name, value in stats.items():
            number = self._number(self._plane.stat_metadata, self._stats, name)
            row = event.stats.add(metadata_id=number)
            if isinstance(value, str):
                row.str_value = value
            elif isinstance(value, float):
                row.double_value = value
            else:
                row.uint64_value = value

    @staticmethod
    def _number(entries, names, name):
        known = next((key for key, text in names.items() if text == name), None)
        if known is not None:
            return known
        number = max(names, default=0) + 1
        entries[number].id, entries[number].name = number, name
        names[number] = name
        return number
