"""Parts made by a Dask cluster: one on this machine, or one with a given scheduler.

Each file is a task. Workers merge the parts of neighbouring files, so that sums join and little is
sent. Dask recomputes the results of a lost worker, but not parts that were already merged and
fetched. If a worker dies, the engine reads its files once more, one at a time, so that a death has
one cause. A file that also kills this worker is reported as unreadable.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from importlib import import_module
from itertools import islice
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from tfprof.captures.hosts.dask_tasks import NOT_HERE
from tfprof.captures.parts.codec import encode
from tfprof.captures.parts.condense import KILLED, HostFile, failed
from tfprof.captures.parts.part import Part, Wanted
from tfprof.core.text.wording import plural
from tfprof.core.version import __version__
from tfprof.errors import InputError, MissingDependencyError

_MOST_MERGED = 16
"""Most files that a worker merges."""

_GROUPS_PER_WORKER = 4
"""Fewest groups for each worker, if there are enough files, so that no group takes long."""

_DEATHS = 0
"""Workers of this machine that may die of a file before it is suspect; schedulers elsewhere have
their own number."""

_LOOK_SECONDS = 5.0

_REMOVALS, _REMOVAL_SECONDS = 20, 0.1
"""How often the folder of a cluster is removed, and how long to wait in between."""


class DaskEngine:
    """Reads files on the workers of a Dask cluster.

    As a context manager, it keeps its cluster for several questions; otherwise each question starts
    its own.

    Args:
        address: The scheduler, such as ``tcp://scheduler:8786`` or ``tls://…``, with certificates
            from Dask's configuration; None for a cluster on this machine.
        n_workers: Number of processes of a cluster on this machine.
        timeout_seconds: How long to wait for a scheduler, and for a first worker.

    Attributes:
        tasks: The module with the functions of workers.

    Raises:
        MissingDependencyError: Dask is not installed.
    """

    tasks = "tfprof.captures.hosts.dask_tasks"

    def __init__(
        self, address: str | None = None, *, n_workers: int = 2, timeout_seconds: float = 30.0
    ) -> None:
        self.address, self.n_workers = address, n_workers
        self.timeout_seconds = timeout_seconds
        self._dask = _load_distributed()
        self._open: ExitStack | None = None
        self._client: Any = None

    def __enter__(self) -> DaskEngine:
        with ExitStack() as stack:
            self._client = stack.enter_context(self._connected())
            self._open = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._open is not None
        self._open.close()
        self._open = self._client = None

    def begun(self, n_files: int) -> AbstractContextManager[None]:
        """A context without preparation: a cluster starts with the first file."""
        return nullcontext()

    def parts(self, files: Sequence[HostFile], wanted: Wanted) -> Iterator[Part]:
        """The parts of some files, merged for neighbours, as they become ready.

        Raises:
            InputError: The cluster is unreachable or has no workers; or these have another version
                of tfprof, or find none of the files.
        """
        if not files:
            return
        with ExitStack() as stack:
            client = self._client or stack.enter_context(self._connected())
            n_found = 0
            reason = ""
            for part in _Job(self._dask, client, self, files, wanted).parts():
                missing = [host.error for host in part.hosts.values() if NOT_HERE in host.error]
                n_found += len(part.hosts) - len(missing)
                reason = reason or next(iter(missing), "")
                yield part
            if not n_found and reason:
                raise InputError(f"no worker finds any of {plural(len(files), 'file')}: {reason}")

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        """A client of the cluster; the context closes it, and a cluster of its own."""
        with ExitStack() as stack:
            place = self.address
            if place is None:
                folder = stack.enter_context(_scratch())
                try:
                    place = stack.enter_context(self._local_cluster(folder))
                except (OSError, RuntimeError) as error:
                    raise InputError(
                        f"no Dask cluster can be started on this machine: {_cause_of(error)}. With "
                        "--engine process, this one reads hosts, one after the other"
                    ) from error
            elif place.startswith("tls://") and self._dask.Security().tls_ca_file is None:
                raise InputError(
                    f"{place}: is reached with certificates, and Dask's configuration names none: "
                    "set distributed.comm.tls.ca-file, and client.cert and client.key there, or "
                    "the environment variables DASK_DISTRIBUTED__COMM__TLS__CA_FILE and so on"
                )
            try:
                client = client_of(place, self.timeout_seconds)
            except (OSError, ValueError, TypeError, RuntimeError) as error:
                raise InputError(
                    f"{self.address}: no Dask scheduler answers there within "
                    f"{self.timeout_seconds:g} s ({error}). Check the address, start one with "
                    "'dask scheduler', or use --engine dask for a cluster on this machine"
                ) from error
            stack.enter_context(client)
            try:
                client.wait_for_workers(1, timeout=self.timeout_seconds)
            except (OSError, self._dask.TimeoutError) as error:
                raise InputError(self.without_workers) from error
            yield client

    @property
    def without_workers(self) -> str:
        """The message if no worker is left, or none came."""
        place = self.address or "of this machine"
        remedy = f"start some with 'dask worker {place}'" if self.address else "see its log"
        return (
            f"the Dask cluster {place} has had no worker for {self.timeout_seconds:g} s: {remedy}"
        )

    def _local_cluster(self, folder: str) -> Any:
        """A cluster of processes on this machine, which share its CPUs.

        Workers have no memory limits of their own: Dask would pause or kill a worker near its
        limit, although their number was chosen to fit into memory. Any client of a worker can run
        code in it, and all users of the machine can reach a loopback address. So both sides of each
        connection must have the key of this cluster, which is generated here and kept in memory.
        The web servers of scheduler and workers do not check keys; they have no pages.
        """
        try:
            security = self._dask.Security.temporary()
        except ImportError as error:
            raise MissingDependencyError(
                "a Dask cluster of this machine needs cryptography: pip install 'tfprof[dask]'"
            ) from error
        settings: dict[str, Any] = {
            f"distributed.{one}.http.routes": [] for one in ("scheduler", "worker")
        }
        settings["temporary-directory"] = folder  # of the nannies, too
        with import_module("dask").config.set(settings):
            return _made(
                self._dask.LocalCluster,
                n_workers=self.n_workers,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                protocol="tls://",
                security=security,
                dashboard_address="127.0.0.1:0",
                worker_dashboard_address="127.0.0.1:0",  # else older releases listen everywhere
                memory_limit=0,
                worker_class=_keeper_of_workers(self._dask, settings),
                local_directory=folder,
                env={"TFPROF_THREADS": str(max(1, (os.cpu_count() or 1) // self.n_workers))},
                silence_logs=_NO_LOGS,
                scheduler_kwargs={"allowed_failures": _DEATHS, "dashboard": False},
                preload=["tfprof.captures.hosts.dask_tasks"],
            )


@contextmanager
def _scratch() -> Iterator[str]:
    """A folder for a cluster of its own, whose processes may still write when it is removed."""
    folder = Path(mkdtemp(prefix="tfprof-dask-"))
    try:
        yield str(folder)
    finally:
        for _ in range(_REMOVALS):
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                break
            time.sleep(_REMOVAL_SECONDS)


def client_of(place: Any, timeout_seconds: float) -> Any:
    """A client of a scheduler, or an error without the parts of one.

    Args:
        place: The address of the scheduler, or a cluster.
        timeout_seconds: How long to wait for the scheduler.

    Raises:
        OSError, ValueError, TypeError, RuntimeError: It cannot be reached.
    """
    kind = _load_distributed().Client
    return _made(kind, place, set_as_default=False, timeout=timeout_seconds)


def _cause_of(error: BaseException) -> BaseException:
    """The first of the errors that led to it."""
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return error


def _made(kind: type, *arguments: Any, **options: Any) -> Any:
    """A client or a cluster of Dask, or an error without the parts of one.

    Their constructors leave a thread behind if they fail. Such a client is closed when it is
    collected, which hangs if that happens while another one starts or stops; such a cluster goes on
    to write into its folder.
    """
    made: Any = object.__new__(kind)
    try:
        made.__init__(*arguments, **options)
    except BaseException:
        with suppress(Exception):  # of what it has not got
            made.close()
        made._loop_runner.stop()
        raise
    return made


def _keeper_of_workers(dask: Any, settings: dict[str, Any]) -> type:
    """A nanny for workers; unlike Dask's, it does not make malloc return memory at once.

    Reading a host takes half as long again if malloc requests all of its pages anew.

    Args:
        dask: The module ``distributed``.
        settings: Also of workers that start later, in the place of those that died.
    """

    class Nanny(dask.Nanny):  # type: ignore[misc]  # Any
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.config.update(settings)
            self.pre_spawn_env.pop("MALLOC_TRIM_THRESHOLD_", None)

    return Nanny


_NO_LOGS = 60
"""Above logging's CRITICAL: tfprof's own messages report what matters."""


class _Job:
    """The processing of some files by a cluster."""

    def __init__(
        self,
        dask: Any,
        client: Any,
        engine: DaskEngine,
        files: Sequence[HostFile],
        wanted: Wanted,
    ) -> None:
        self._dask, self._client, self._engine = dask, client, engine
        self._files, self._wanted = files, wanted
        self._encoded = encode(wanted)
        self._condensed = _by_value(engine.tasks, "condensed", __version__)
        self._merged = _by_value(engine.tasks, "merged", __version__)
        self._of: dict[Any, list[HostFile]] = {}
        """Files of each pending future."""
        self._inner: dict[Any, list[Any]] = {}
        """For each group, the futures of its files."""

    def parts(self) -> Iterator[Part]:
        """The parts of all files."""
        suspects: list[HostFile] = []
        for group in self._groups():
            futures = [self._submit(file) for file in group]
            whole = futures[0] if len(group) == 1 else self._merge(futures)
            self._of[whole] = group
            self._inner[whole] = [] if len(group) == 1 else futures
        while self._of:
            suspects += yield from self._done()
        for file in suspects:
            self._of[self._submit(file)] = [file]
            killed: list[HostFile] = []
            while self._of:
                killed += yield from self._done()
            for one in killed:
                yield failed(one, self._wanted, KILLED)

    def _groups(self) -> list[list[HostFile]]:
        """Groups of neighbouring files, the largest first."""
        files = iter(sorted(self._files))
        n_workers = max(1, len(self._client.nthreads()))
        size = max(1, min(_MOST_MERGED, len(self._files) // (_GROUPS_PER_WORKER * n_workers)))
        groups = []
        while group := list(islice(files, size)):
            groups.append(group)
        return sorted(groups, key=lambda group: -sum(file.n_bytes for file in group))

    def _submit(self, file: HostFile) -> Any:
        is_local = Path(file.path).exists()
        return self._client.submit(
            self._condensed, tuple(file), is_local, self._encoded, pure=False
        )

    def _merge(self, futures: Sequence[Any]) -> Any:
        # Merging comes before further reading, since merged parts leave the workers.
        return self._client.submit(self._merged, *futures, pure=False, priority=1)

    def _done(self) -> Any:
        """Wait for parts and yield them; returns files whose workers were killed."""
        suspects: list[HostFile] = []
        for future in self._wait():
            files, inner = self._of.pop(future), self._inner.pop(future, [])
            try:
                result = future.result()
            except self._dask.scheduler.KilledWorker:
                suspects += self._without_group(files, inner)
                continue
            except self._dask.client.FutureCancelledError as error:
                raise InputError(
                    f"{self._engine.address or 'the local cluster'}: the connection to the Dask "
                    f"scheduler was lost ({error}). Ask again once it runs"
                ) from error
            except _OtherVersion as error:
                raise InputError(_told(*error.args)) from error
            yield Part.from_bytes(result)
        return suspects

    def _without_group(self, files: Sequence[HostFile], inner: Sequence[Any]) -> list[HostFile]:
        """After a death in a group, wait for each of its files; returns a file without a group."""
        if not inner:
            return list(files)
        self._of.update((future, [file]) for future, file in zip(inner, files, strict=True))
        return []

    def _wait(self) -> list[Any]:
        """Finished futures, at least one."""
        idle_seconds = 0.0
        while True:
            try:
                with self._client.as_current():
                    done = self._dask.wait(
                        list(self._of), timeout=_LOOK_SECONDS, return_when="FIRST_COMPLETED"
                    ).done
            except self._dask.TimeoutError:
                has_workers = bool(self._client.nthreads())
                idle_seconds = 0.0 if has_workers else idle_seconds + _LOOK_SECONDS
                if idle_seconds >= self._engine.timeout_seconds:
                    raise InputError(self._engine.without_workers) from None
                continue
            except self._dask.client.FutureCancelledError:
                return list(self._of)  # their results raise the reason
            return [future for future in list(self._of) if future in done]


_OtherVersion = ImportWarning
"""A built-in class, since a worker without tfprof does not have tfprof's classes."""


def _by_value(module: str, name: str, version: str) -> Callable[..., Any]:
    """A function of workers, sent as code, so that workers without tfprof can report it."""

    def call(*args: Any) -> Any:
        from distributed import get_worker

        try:
            from tfprof.core.version import __version__ as own
        except ImportError:
            own = ""
        if own != version:
            raise ImportWarning(version, own, get_worker().address)
        return getattr(import_module(module), name)(*args)

    call.__name__ = call.__qualname__ = f"tfprof-{name}"
    return call


def _told(here: str, there: str, worker: str) -> str:
    found = f"has tfprof {there}" if there else "has no tfprof"
    return (
        f"the Dask worker {worker} {found}, and this is tfprof {here}: their facts may differ. "
        f"Install the same version there: pip install tfprof=={here}"
    )


def _load_distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise MissingDependencyError(
            "--engine dask needs Dask: pip install 'tfprof[dask]'"
        ) from error
    return distributed
