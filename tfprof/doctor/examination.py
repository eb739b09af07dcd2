"""Runs every check, in the order of the report."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from tfprof.doctor import cupti, gpu, packages, privileges
from tfprof.doctor.environment import Environment
from tfprof.doctor.facts import Facts, gather
from tfprof.doctor.report import Area, Check, Report
from tfprof.doctor.servers import check_servers
from tfprof.remote.addresses import address_of

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
            packages.check_web,
            packages.check_remote,
            packages.check_remote_files,
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
            gpu.check_command_buffers,
            gpu.check_mig,
        ),
    ),
    ("CUPTI", (cupti.check_cupti, cupti.check_library_path)),
    ("Privileges", (privileges.check_profiling, privileges.check_device_nodes)),
)
"""Checks of the machine, by area; an area without results is left out of the report."""

SERVERS = "Profiler servers"


def examine(
    paths: Sequence[str | os.PathLike[str]] = (),
    servers: Sequence[str] = (),
    environment: Environment | None = None,
) -> Report:
    """Examine this machine, profiler servers and files.

    TensorFlow is not imported. The only connections made are those to the given servers.

    Args:
        paths: Files and folders: graphs, run metadata, op logs, profiles, captures.
        servers: Addresses of profiler servers, ``localhost:6009``.
        environment: The machine to examine; the current one by default.

    Raises:
        UsageError: An address is not ``HOST:PORT``.

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
        results = tuple(result for check in checks for result in check(facts))
        if results:
            yield Area(title, results)
    if servers:
        yield Area(SERVERS, tuple(check_servers(servers, environment.timeout_seconds)))
    else:
        none = "none checked; tfprof doctor --server localhost:6009 checks one"
        yield Area(SERVERS, (Check("server", "not_applicable", none),))
    if paths:
        from tfprof.doctor.inputs import check_paths

        yield from check_paths(paths)
