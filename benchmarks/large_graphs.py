"""Graphs of a million nodes: seconds, memory, and whether both grow in line with the nodes.

    python benchmarks/large_graphs.py [--nodes 100000,1000000] [--layers 24] [--repeat 3]
    python benchmarks/large_graphs.py --against CHECKOUT [--only reading,graph]
    python benchmarks/large_graphs.py --nodes 10000,100000,1000000 --user --per-node

The graphs are those of `make_transformers.py`. Each case runs in a process of its own, for every
size and, with `--against`, for both checkouts, one after the other: shared machines change their
pace. Shown are the shortest of all times, or with `--cpu` the seconds of the processor, and the
highest memory of the process. `--user` leaves out the seconds of the kernel: a virtual machine may
take a second for a gigabyte that it has not touched before. Goals: a profiler of a million nodes
within 3 s, and views that take no more than 11 × the time for 10 × the nodes.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from measure import ROOT, VIEWS, child_environment, peak_mb

Result = dict[str, float]
PRESETS = ("default", "time_and_memory", "float_operation", "trainable_variables_parameter")
MAKER = Path(__file__).with_name("make_transformers.py")
MOST_GROWTH = 1.1
"""Times the growth of the graph."""


def graph_of(folder: Path) -> bytes:
    return (folder / "graph.pb").read_bytes()


def profiler_of(folder: Path, *, step: bool = False) -> Any:
    import tfprof

    profiler = tfprof.Profiler(graph_of(folder), folder / "op_log.pb")
    if step:
        profiler.add_step(0, folder / "run_meta.pb")
    return profiler


def preset(name: str, output: str = "none", **changed: Any) -> dict[str, Any]:
    """Options as users make them."""
    import tfprof

    builder = tfprof.ProfileOptionBuilder
    options = builder().build() if name == "default" else getattr(builder, name)()
    return {**options, "output": output, **changed}


def reading(folder: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """The graph as bytes."""
    import tfprof

    data = graph_of(folder)
    yield "Profiler(bytes)", lambda: tfprof.Profiler(data)


def message(folder: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """The graph as a message, which takes most of the memory itself."""
    import tfprof
    from tfprof.core.wire import messages as pb

    graph = pb.GraphDef.FromString(graph_of(folder))
    yield "Profiler(GraphDef)", lambda: tfprof.Profiler(graph)


def op_log(folder: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """The graph with its op log."""
    import tfprof

    data, log = graph_of(folder), (folder / "op_log.pb").read_bytes()
    yield "Profiler(bytes, op_log)", lambda: tfprof.Profiler(data, log)


def step(folder: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """A first step with an execution of each op, and a second one."""
    profiler, run_meta = profiler_of(folder), (folder / "run_meta.pb").read_bytes()
    numbers = itertools.count()
    yield "add_step", lambda: profiler.add_step(next(numbers), run_meta)


def costs(folder: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """What needs no step."""
    import tfprof

    data = graph_of(folder)
    yield "flops", lambda: tfprof.flops(data).flops
    yield "params", lambda: tfprof.params(data).total
    yield "summary", lambda: str(tfprof.summary(data))


def view(kind: str) -> Callable[[Path], Iterator[tuple[str, Callable[[], object]]]]:
    """One view: for the first time, then by each preset, as text and in files."""

    def cases(folder: Path) -> Iterator[tuple[str, Callable[[], object]]]:
        profilers = [profiler_of(folder, step=True)]
        yield f"{kind}, first", lambda: profilers[-1].view(kind, preset("time_and_memory"))
        for name in PRESETS:
            options = preset(name)
            yield f"{kind}, {name}", lambda: profilers[-1].view(kind, options)  # noqa: B023
            yield f"{kind}, {name}, text", lambda: profilers[-1].report(kind, options)  # noqa: B023
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch, "out")
            forms = {"code": ("pprof", "timeline"), "graph": ("timeline",), "scope": ("timeline",)}
            for form in forms.get(kind, ()):
                wanted = preset("time_and_memory", f"{form}:outfile={path}")
                yield f"{kind}, {form}", lambda: written(profilers[-1], kind, wanted)  # noqa: B023

    return cases


def written(profiler: Any, kind: str, options: dict[str, Any]) -> None:
    """Make the files of a view, and drop them."""
    for file in profiler.output_files(kind, options):
        for _chunk in file.chunks:
            pass


CASES = {
    "reading": reading,
    "message": message,
    "op_log": op_log,
    "step": step,
    "costs": costs,
    **{kind: view(kind) for kind in VIEWS},
}


def user_seconds() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


CLOCKS = {"watch": time.perf_counter, "cpu": time.process_time, "user": user_seconds}


def one(case: str, folder: Path, repeat: int, clock: Callable[[], float]) -> Result:
    """The shortest times of a case; what is made for the first time is made once."""
    found: Result = {}
    for name, job in CASES[case](folder):
        for _ in range(1 if name.endswith(", first") else repeat):
            gc.collect()
            start = clock()
            value = job()
            seconds = clock() - start
            del value
            found[name] = min(found.get(name, seconds), seconds)
    return {**found, f"{case}: peak MB": peak_mb()}


def ran(case: str, folder: Path, checkout: Path, *words: str) -> Result:
    """A case in a new process that imports the package of a checkout."""
    environment = {**child_environment(), "PYTHONPATH": str(checkout)}
    command = [sys.executable, __file__, "--case", case, *words, str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return {}
    result: Result = json.loads(done.stdout.splitlines()[-1])
    return result


def best(results: list[Result]) -> Result:
    return {name: min(each[name] for each in results if name in each) for name in results[0]}


def shown(name: str, sizes: list[int], found: list[list[Result]], *, per_node: bool) -> str:
    """A line: each size of each checkout, the growth of the first, and the gain over the other."""
    columns = [[each.get(name, float("nan")) for each in of_checkout] for of_checkout in found]
    is_memory = name.endswith("MB")
    line = f"{name:45}"
    for numbers in columns:
        if per_node and not is_memory:
            pairs = zip(numbers, sizes, strict=True)
            line += "".join(f"{1e9 * number / size:9,.0f}" for number, size in pairs)
        else:
            line += "".join(f"{number:9,.{0 if is_memory else 3}f}" for number in numbers)
        growth = numbers[-1] / numbers[0]
        mark = "!" if growth > MOST_GROWTH * sizes[-1] / sizes[0] and not is_memory else " "
        line += f"{growth:7.1f} ×{mark}" if len(sizes) > 1 else "  "
    if len(columns) > 1:
        line += f"{columns[0][-1] / columns[1][-1]:9.2f}"
    return line


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--nodes", default="100000,1000000")
    parser.add_argument("--layers", type=int, default=24, help="of each tower (default 24)")
    parser.add_argument("--repeat", type=int, default=3)
    for name, about in (("cpu", ""), ("user", ", without those of the kernel")):
        parser.add_argument(
            f"--{name}", dest="clock", action="store_const", const=name, default="watch",
            help=f"seconds of the processor{about}",
        )  # fmt: skip
    parser.add_argument("--per-node", action="store_true", help="nanoseconds for each node")
    parser.add_argument("--rounds", type=int, default=1, help="processes of each case")
    parser.add_argument("--only", default=",".join(CASES))
    parser.add_argument("--against", type=Path, help="another checkout to compare with")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir(), "tfprof-graphs"))
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("folder", nargs="?", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.case:
        print(json.dumps(one(given.case, given.folder, given.repeat, CLOCKS[given.clock])))
        return
    sizes = [int(size) for size in given.nodes.split(",")]
    folders = [given.cache / f"{size}-{given.layers}" for size in sizes]
    for size, folder in zip(sizes, folders, strict=True):
        # In a process of its own: the highest memory of this one would count for its children.
        command = [sys.executable, str(MAKER), "--nodes", str(size), "--layers", str(given.layers)]
        environment = child_environment()
        subprocess.run([*command, str(folder)], check=True, env=environment, capture_output=True)
    checkouts = [ROOT, *([given.against] if given.against else [])]
    print(f"{'':45}" + "  ".join(f"{checkout.name}: {given.nodes} nodes" for checkout in checkouts))
    words = [
        "--repeat",
        str(given.repeat),
        *([f"--{given.clock}"] if given.clock != "watch" else []),
    ]
    begin = time.perf_counter()
    for case in given.only.split(","):
        results: list[list[list[Result]]] = [[[] for _ in sizes] for _ in checkouts]
        for _, (at, folder), (which, checkout) in itertools.product(
            range(given.rounds), enumerate(folders), enumerate(checkouts)
        ):
            results[which][at].append(ran(case, folder, checkout, *words))
        found = [[best(each) for each in of_checkout] for of_checkout in results]
        for name in found[0][-1]:
            print(shown(name, sizes, found, per_node=given.per_node), flush=True)
    print(f"{time.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
