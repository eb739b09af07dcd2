"""The examination: every check there is, in the order of the report."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from tfprof.doctor import cupti, gpu, packages, privileges
from tfprof.doctor.environment import Environment
from tfprof.doctor.facts import Facts, gather
from tfprof.doctor.report import Area, Check, Report
from tfprof.doctor.servers import address_of, check_servers

MachineCheck = Callable[[Facts], Iterator[Check]]

MACHINE_CHECKS: Final[tuple[tuple[str, tuple[MachineCheck, ...]], ...]] = (
    (
        "Packages",
        (
            packages.check_tfprof,
            packages.check_core,
            packages.check_protobuf,
            packages.check_reader,
            packages.check_tensorflow,
            packages.check_drawing,
            packages.check_cupti_python,
        ),
    ),
    (
        "NVIDIA GPU",
        (
            gpu.check_driver,
            gpu.check_tensorflow_build,
            gpu.check_toolkits,
            gpu.check_runtime,
            gpu.check_mig,
        ),
    ),
    ("CUPTI", (cupti.check_cupti, cupti.check_library_path)),
    ("Privileges", (privileges.check_profiling, privileges.check_device_nodes)),
)
"""Checks of the machine by area; an area in which nothing applies is left out."""

SERVERS = "Profiler servers"


def examine(
    paths: Sequence[str | os.PathLike[str]] = (),
    servers: Sequence[str] = (),
    environment: Environment | None = None,
) -> Report:
    """Look at this machine, at profiler servers and at files.

    TensorFlow is not imported, and nothing but the given servers is connected to.

    Args:
        paths: Files and folders: graphs, run metadata, op logs, profiles, captures.
        servers: Addresses of profiler servers, ``localhost:6009``.
        environment: The machine; by default the one that this runs on.

    Raises:
        UsageError: An address is none.

    Example:
        >>> import tfprof.doctor
        >>> files = tfprof.demo_files()
        >>> report = tfprof.doctor.examine([files.graph, files.run_meta])
        >>> [area.title for area in report.areas][-1]
        'These files together'
    """
    for address in servers:
        address_of(address)
    environment = environment or Environment.current()
    return Report(tuple(_areas(paths, servers, environment)))


def _areas(
    paths: Sequence[str | os.PathLike[str]], servers: Sequence[str], environment: Environment
) -> Iterator[Area]:
    facts = gather(environment)
    for title, checks in MACHINE_CHECKS:
        found = tuple(result for check in checks for result in check(facts))
        if found:
            yield Area(title, found)
    if servers:
        yield Area(SERVERS, tuple(check_servers(servers, environment.timeout_seconds)))
    else:
        none = "none asked; tfprof doctor --server localhost:6009 asks one"
        yield Area(SERVERS, (Check("server", "not_applicable", none),))
    if paths:
        from tfprof.doctor.inputs import check_paths

        yield from check_paths(paths)
