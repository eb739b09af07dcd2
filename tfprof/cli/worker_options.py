"""Options that say where the workers of a job are found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfprof.cli.options import CommandOption, HelpedArgument
from tfprof.cli.servers import servers_argument
from tfprof.errors import UsageError

if TYPE_CHECKING:
    from tfprof.remote.discovery import Source

_SECTION = "Workers"


@dataclass(frozen=True, slots=True)
class Workers:
    """The values of ``worker_options``."""

    servers: tuple[str, ...]
    workers_from: str | None
    slurm: str | None
    kubernetes: str | None
    namespace: str | None
    port: str | None

    def found(self) -> Sequence[str] | Source:
        """The addresses, or the source of addresses.

        Raises:
            UsageError: There is none, or more than one, or one lacks an option.
            InputError: Kubernetes has no account for this process.
            MissingDependencyError: The client of Kubernetes is not installed.
        """
        given = {
            "HOST:PORT": self.servers, "--workers-from": self.workers_from, "--slurm": self.slurm,
            "--kubernetes": self.kubernetes,
        }  # fmt: skip
        names = [name for name, value in given.items() if value]
        if len(names) != 1:
            said = f"{' and '.join(names)} are given" if names else "no worker is given"
            raise UsageError(f"{said}; give one of: {', '.join(given)}")
        if (self.slurm or self.kubernetes) and self.port is None:
            raise UsageError(f"option {names[0]} needs --port, that of the profiler servers")
        if not (self.slurm or self.kubernetes) and self.port is not None:
            raise UsageError("option --port is for --slurm and --kubernetes")
        if not self.kubernetes and self.namespace is not None:
            raise UsageError("option --namespace is for --kubernetes")
        return self.servers or self._source()

    def _source(self) -> Source:
        if self.workers_from:
            from tfprof.remote.discovery.files import in_path

            return in_path(self.workers_from)
        from tfprof.remote.discovery import ports_of

        ports = ports_of(self.port or "")
        if self.slurm:
            from tfprof.remote.discovery.slurm import in_job

            return in_job(self.slurm, ports)
        from tfprof.remote.discovery.kubernetes import in_pods

        return in_pods(self.kubernetes or "", ports, self.namespace)


def worker_options() -> list[HelpedArgument | CommandOption]:
    """``HOST:PORT...``, and the sources that replace it."""
    return [
        servers_argument(required=False),
        CommandOption(
            ["--workers-from"], metavar="FILE|FOLDER", section=_SECTION,
            help="A file with HOST:PORT on each line, or a folder of tfprof run --server. It is "
            "read every 10 s, and workers that come and go are followed.",
        ),
        CommandOption(
            ["--slurm"], metavar="JOB", section=_SECTION,
            help="The hosts of a job of SLURM, by its number, or here for the one that this "
            "belongs to; with --port.",
        ),
        CommandOption(
            ["--kubernetes"], metavar="LABELS", section=_SECTION,
            help="The running pods with these labels, such as app=train; with --port. Needs pip "
            "install 'tfprof[k8s]'.",
        ),
        CommandOption(
            ["--namespace"], metavar="NAME", section=_SECTION,
            help="Namespace of the pods. [default: that of this pod, or of kubectl]",
        ),
        CommandOption(
            ["--port"], metavar="PORTS", section=_SECTION,
            help="Ports of the profiler servers on each host or pod: 6009, or 6009-6016 for eight "
            "processes.",
        ),
    ]  # fmt: skip
