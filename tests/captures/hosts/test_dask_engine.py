"""Parts made by a real Dask cluster on this machine: the same bytes, even if workers die."""

import lzma
import os
import signal
import socket
import threading
from collections import Counter

import pytest

from tests.captures.parts.recorded_files import WANTED
from tests.captures.tools.recorded import TUTORIALS
from tfprof import tools
from tfprof.captures.hosts import dask_engine
from tfprof.captures.hosts.asked import fleet_of
from tfprof.captures.hosts.dask_engine import DaskEngine, client_of
from tfprof.captures.hosts.engines import KILLED, OneProcess, Processes, engine_named
from tfprof.captures.parts.condense import HostFile
from tfprof.captures.parts.part import merge
from tfprof.errors import InputError, MissingDependencyError, UsageError

pytestmark = pytest.mark.one_engine
distributed = pytest.importorskip("distributed", reason="needs Dask: pip install 'tfprof[dask]'")
listeners = pytest.importorskip("tests.captures.hosts.listening")


@pytest.fixture(scope="module")
def other_ports():
    """On which this process and its children listen before the cluster starts."""
    return set(listeners.listening())


@pytest.fixture(scope="module")
def cluster(other_ports):
    """Two workers, which tests share, since their start takes seconds."""
    with DaskEngine(n_workers=2) as engine:
        engine.tasks = "tests.captures.hosts.dask_tasks"
        yield engine


@pytest.fixture
def folder(tmp_path):
    def make(*names):
        for name in names:
            hostname = name.encode()  # of equal files, tfprof would read only one
            data = CAPTURE + b"\x22" + bytes([len(hostname)]) + hostname
            (tmp_path / f"{name}.xplane.pb").write_bytes(data)
        return tmp_path

    return make


CAPTURE = lzma.decompress((TUTORIALS / "xla" / "worker0.xplane.pb.xz").read_bytes())


def overview(run):
    return tools.overview(run).to_dict()


def answer_of(folder, engine):
    fleet = fleet_of(folder, engine=engine)
    answer = fleet.ask(overview)
    return answer, fleet.facts.part.to_bytes()


def reads(folder):
    return [tuple(line.split()) for line in (folder / "reads.log").read_text().splitlines()]


def test_the_same_bytes_as_one_process(cluster, folder):
    logs = folder(*(f"h{number:02}" for number in range(6)))
    (logs / "h06.xplane.pb").write_bytes(b"damaged")
    assert answer_of(logs, cluster) == answer_of(logs, OneProcess())
    assert len(reads(logs)) == 6  # the client reads the first host


def test_groups_of_neighbours_are_merged_on_workers(cluster, folder):
    logs = folder(*(f"h{number:02}" for number in range(16)))
    fleet = fleet_of(logs)
    _, wanted = fleet._probed(overview, None)
    parts = list(cluster.parts(fleet.files, wanted))
    assert sorted(sorted(part.hosts) for part in parts) == [
        [first, first + 1] for first in range(0, 16, 2)
    ]
    for part in parts:
        assert all(len(segments) == 1 for segments in part.sums.values())
    assert merge(parts).to_bytes() == merge(OneProcess().parts(fleet.files, wanted)).to_bytes()


def test_a_worker_that_is_killed_costs_its_own_work(cluster, folder):
    """It dies while it reads; a slow worker does not keep the other from reading the rest."""
    logs = folder("h00", "h01 slow", *(f"h{number:02}" for number in range(2, 6)))
    expected = answer_of(logs, OneProcess())
    fleet = fleet_of(logs, engine=cluster)
    before, victims = cluster.parts, []

    def parts(files, wanted):
        for number, part in enumerate(before(files, wanted), 2):
            yield part
            if number == 5 and not victims:  # all but the slow one
                [victims[:]] = [[pid for pid, *name in reads(logs) if name[0] == "h01"]]
                os.kill(int(victims[0]), signal.SIGKILL)
                (logs / "go").touch()

    cluster.parts = parts
    try:
        answer = fleet.ask(overview)
    finally:
        del cluster.parts
    assert (answer, fleet.facts.part.to_bytes()) == expected
    n_reads = Counter(name for _, name, *_ in reads(logs))
    assert n_reads.pop("h01") == 2
    by_victim = {name for pid, name, *_ in reads(logs) if pid in victims}
    assert {name for name, n in n_reads.items() if n > 1} <= by_victim


def test_a_file_that_kills_its_workers_is_named_and_the_others_are_read(cluster, folder):
    logs = folder("h00", "h01-deadly", *(f"h{number:02}" for number in range(2, 5)))
    fleet = fleet_of(logs, engine=cluster)
    fleet.ask(overview)
    reported = {host.label: host.error for host in fleet.facts.part.hosts.values()}
    assert reported.pop("h01-deadly") == KILLED
    assert set(reported.values()) == {""}
    assert len(reported) == 4


def test_a_file_that_workers_do_not_find_is_named_with_the_worker(cluster, folder):
    logs = folder("h00", "h01", "h02-elsewhere")
    fleet = fleet_of(logs, engine=cluster)
    fleet.ask(overview)
    (error,) = (host.error for host in fleet.facts.part.hosts.values() if host.error)
    assert "h02-elsewhere.xplane.pb.gone: is not on worker tls://127.0.0.1:" in error
    assert error.endswith("put files on a shared or remote path")


def test_no_answer_if_workers_find_none_of_the_files(cluster, folder):
    logs = folder("h00", "h01-elsewhere", "h02-elsewhere")
    with pytest.raises(InputError, match=r"finds any of 2 files: .* is not on worker tls"):
        fleet_of(logs, engine=cluster).ask(overview)


def test_workers_of_another_version_are_refused(cluster, folder, monkeypatch):
    monkeypatch.setattr(dask_engine, "__version__", "0.0.7")
    with pytest.raises(InputError) as error:
        fleet_of(folder("h00", "h01"), engine=cluster).ask(overview)
    assert "has tfprof 0." in str(error.value)
    assert "this is tfprof 0.0.7" in str(error.value)
    assert "pip install tfprof==0.0.7" in str(error.value)


@pytest.mark.parametrize("port", ["free", "wrong"])
def test_a_scheduler_that_does_not_answer(port):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1] if port == 'free' else port}"
    n_threads = threading.active_count()
    with pytest.raises(
        InputError, match=f"{address}: no Dask scheduler answers there within 0.2 s"
    ):
        DaskEngine(address, timeout_seconds=0.2).__enter__()
    assert threading.active_count() == n_threads, "the client of Dask is closed"


def test_a_scheduler_that_requires_certificates():
    with pytest.raises(InputError, match=r"names none: set distributed\.comm\.tls\.ca-file"):
        DaskEngine("tls://scheduler:8786").__enter__()


def test_a_scheduler_by_its_address(folder):
    logs = folder("h00", "h01", "h02")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp://", host="127.0.0.1",
        dashboard_address=None,
    ) as theirs:  # fmt: skip
        engine = DaskEngine(theirs.scheduler_address)
        assert answer_of(logs, engine) == answer_of(logs, OneProcess())


def test_without_the_key_no_port_answers(cluster, other_ports):
    """Nor do those of workers that have taken the place of others."""
    cluster._client.restart()
    address = cluster._client.scheduler.address
    opened = set(listeners.listening()) - other_ports
    assert len(opened) >= 5  # scheduler, nannies and workers
    assert {ip for ip, _ in opened} == {"127.0.0.1"}
    for _, port in opened:
        assert {listeners.status(port, page) for page in listeners.PAGES} <= {None, 404}
        assert listeners.answers(port) == b""
    assert address.startswith("tls://")
    for place in (address, address.replace("tls", "tcp")):
        with pytest.raises((OSError, TypeError, RuntimeError)):
            client_of(place, 3)
    assert cluster._client.submit(os.getpid).result() != os.getpid()


def test_nothing_of_dask_is_changed_for_the_process(cluster, folder):
    import dask

    before = dict(dask.config.config)
    answer_of(folder("h00", "h01"), cluster)
    assert dask.config.config == before
    with pytest.raises(ValueError, match="No global client found"):
        distributed.get_client()


def test_engines_by_name(monkeypatch):
    files = [HostFile(0, "h00.xplane.pb", 100)]
    assert isinstance(engine_named("", files), OneProcess)
    assert isinstance(engine_named("process", files), OneProcess)
    assert isinstance(engine_named("processes", files), Processes)
    assert engine_named("tls://far:8786", files).address == "tls://far:8786"
    assert engine_named("dask", files, 1).n_workers == 1
    for text in ("dusk", "tcp://", "http://far"):
        with pytest.raises(UsageError, match=f"no engine '{text}'.*process, processes, dask"):
            engine_named(text, files)
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'tfprof\[dask\]'"):
        engine_named("dask", files)


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps working folders")
def test_a_cluster_that_cannot_start_is_reported(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(InputError, match="no Dask cluster can be started"):
        list(DaskEngine(n_workers=1).parts([HostFile(0, "a.xplane.pb", 1)], WANTED))
