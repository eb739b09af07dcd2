"""Workers of a job of SLURM: the hosts on which it runs."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence

from tfprof.errors import InputError, UsageError
from tfprof.remote.addresses import Address
from tfprof.remote.discovery.source import at_ports

HERE = "here"
"""Stands for the job that this process belongs to."""

_NODES = "SLURM_JOB_NODELIST"
_JOB = re.compile(r"\d{1,18}(?:_\d{1,9}|\+\d{1,9})?", re.ASCII)
_PART = re.compile(r"([^,\[\]]+|\[[^\[\]]*\])")
_RANGE = re.compile(r"(\d{1,12})(?:-(\d{1,12}))?", re.ASCII)
_SECONDS = 20.0
_MOST_HOSTS = 100_000


def in_job(
    job: str, ports: Sequence[int], environ: Mapping[str, str] = os.environ
) -> Callable[[], Sequence[Address]]:
    """The source for a job.

    Args:
        job: Its number, or ``here`` for the one of this process.
        ports: The ports of the profiler servers on each host.
        environ: Environment variables.

    Raises:
        UsageError: ``job`` is not the number of a job, or this process belongs to none.
    """
    if job == HERE:
        listed = environ.get(_NODES, "")
        if not listed:
            raise UsageError(
                f"slurm={HERE}: {_NODES} is not set, so this process belongs to no job of SLURM; "
                "give the number of a job, as squeue shows it"
            )
        workers = at_ports(hosts_of(listed), ports)
        return lambda: workers
    if not _JOB.fullmatch(job):
        raise UsageError(f"slurm={job!r} is not the number of a job; write 1234, or {HERE}")
    return lambda: at_ports(hosts_of(_nodes_of(job)), ports)


def hosts_of(listed: str) -> list[str]:
    """The hosts in SLURM's short form, such as ``gpu[01-03,7]-x,login1``.

    Several brackets in one name give all combinations, the last one changing fastest, as
    ``scontrol show hostnames`` does.

    Raises:
        InputError: The text is not such a list.
    """
    found: list[str] = []
    for name in _names(listed):
        hosts = [""]
        for part in _PART.findall(name):
            ends = _members(part, listed) if part.startswith("[") else [part]
            if len(hosts) * len(ends) + len(found) > _MOST_HOSTS:
                raise _unclear(listed, f"it has more than {_MOST_HOSTS:,} hosts")
            hosts = [host + end for host in hosts for end in ends]
        found += hosts
    return list(dict.fromkeys(found))


def _names(listed: str) -> Iterator[str]:
    """The names between commas outside of brackets."""
    depth, name = 0, ""
    for character in listed.strip():
        depth += (character == "[") - (character == "]")
        if not 0 <= depth <= 1:
            raise _unclear(listed, "its brackets do not match")
        if character == "," and not depth:
            yield name
            name = ""
        else:
            name += character
    if depth:
        raise _unclear(listed, "its brackets do not match")
    if name:
        yield name


def _members(part: str, listed: str) -> list[str]:
    """The numbers in brackets, with their leading zeros."""
    found: list[str] = []
    for text in part[1:-1].split(","):
        match = _RANGE.fullmatch(text.strip())
        if match is None:
            raise _unclear(listed, f"{text!r} is neither a number nor a range")
        first, last = match[1], match[2] or match[1]
        if not 0 <= int(last) - int(first) < _MOST_HOSTS:
            raise _unclear(listed, f"the range {text} is empty or too long")
        found += [f"{number:0{len(first)}d}" for number in range(int(first), int(last) + 1)]
    return found


def _nodes_of(job: str) -> str:
    """The hosts of a job in short form, empty while it waits; ``squeue`` must be here."""
    command = ["squeue", "--noheader", f"--jobs={job}", "--format=%N"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_SECONDS, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except FileNotFoundError as error:
        raise UsageError(
            "squeue is not on this machine's PATH, and SLURM's job cannot be looked up without "
            "it; run this on a node of the cluster, or list the workers in a file"
        ) from error
    except (OSError, subprocess.SubprocessError) as error:
        raise InputError(f"squeue gives no answer: {error}") from error
    if done.returncode:
        said = " ".join(done.stderr.split())[:300]
        raise InputError(f"job {job}: squeue ends with {done.returncode}: {said}. Has it ended?")
    return ",".join(done.stdout.split())


def _unclear(listed: str, why: str) -> InputError:
    shown = listed if len(listed) <= 100 else f"{listed[:100]}…"
    return InputError(f"{shown!r} is not a list of hosts of SLURM: {why}")
