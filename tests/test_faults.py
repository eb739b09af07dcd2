"""A command under faults of the machine: the quickest part of ``python -m fuzz.faults``."""

import importlib.util
import signal
import sys
from contextlib import closing

import pytest

pytestmark = [
    pytest.mark.one_engine,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
    pytest.mark.skipif(not importlib.util.find_spec("grpc"), reason="part of the servers' faults"),
]

FAULTS = (
    "files of at most 4 kB", "folder removed halfway", "inputs cut halfway",
    "inputs removed halfway", "input: folder", "input: empty file", "input: socket",
    "input: pipe without data", "input: loop of links", "input: /dev/null",
    "input: memory of a process", "input: name that is not text", "HOME is not a folder",
    "TMPDIR does not exist", "8 descriptors", "8 MB more of addresses",
    "clock jumps by 200 years",
)  # fmt: skip


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    """A place, a command, a process that has its modules, and what it does without a fault."""
    from fuzz.faults.commands import COMMANDS, write_inputs
    from fuzz.faults.processes import Nursery
    from fuzz.faults.trial import Place, environment

    folder, inputs = (tmp_path_factory.mktemp(name) for name in ("faults", "inputs"))
    write_inputs(inputs)
    command = next(each for each in COMMANDS if each.name == "slice, hosts")
    place, counted = Place(folder, inputs), folder / "counted"
    place.run(command, fault=f"count:{counted}")
    modules = counted.read_text().split("\n")[1:]
    with closing(Nursery(modules, environment(folder, folder))) as nursery:
        yield place, command, nursery, place.run(command, nursery=nursery)


def test_faults_of_the_machine(ready):
    from fuzz.faults.machine import FAULTS as ALL
    from fuzz.faults.moments import under
    from fuzz.faults.verdict import wrong

    place, command, nursery, whole = ready
    assert (whole.code, wrong(command, whole, whole.files)) == (0, [])
    chosen = [fault for fault in ALL if fault.name in FAULTS]
    assert len(chosen) == len(FAULTS)
    found = {
        fault.name: under(fault, command, place, nursery, whole.files, half=20).wrong
        for fault in chosen
    }
    assert not {name: faults for name, faults in found.items() if faults}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_signals_before_operations_on_files(ready, number):
    from fuzz.faults.verdict import wrong

    place, command, nursery, whole = ready
    found = {}
    for operation in range(number, 60, 20):
        done = place.run(command, fault=f"{operation}:kill:{int(number)}", nursery=nursery)
        found[operation] = wrong(command, done, whole.files, number)
    assert not {operation: faults for operation, faults in found.items() if faults}
