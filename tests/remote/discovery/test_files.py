import json
import os
import socket

import pytest

from tfprof.errors import InputError, UsageError
from tfprof.remote.addresses import Address
from tfprof.remote.discovery import ports_of
from tfprof.remote.discovery.files import in_path

pytestmark = pytest.mark.one_engine


def test_a_file_is_read_anew(tmp_path):
    file = tmp_path / "workers.txt"
    workers = in_path(file)
    with pytest.raises(InputError, match="the list of workers cannot be read: No such"):
        workers()
    file.write_text("# a job\n\nhost:6009  # the first\n[::1]:6010\nhost:6009\n")
    assert workers() == [Address("host", 6009), Address("::1", 6010)]
    file.write_text("host:6009\nhost 6010\n")
    with pytest.raises(InputError, match=r"workers.txt:2: server 'host 6010' is not an address"):
        workers()
    file.write_text("")
    assert workers() == []
    file.write_bytes(bytes(5 << 20))
    with pytest.raises(InputError, match="more than 4 MiB"):
        workers()


def test_a_folder_of_processes_in_the_order_of_their_ranks(tmp_path):
    workers = in_path(tmp_path)
    assert workers() == []
    for pid, process in {
        11: {"pid": 11, "host": "b", "rank": 1, "port": 6010},
        12: {"pid": 12, "host": "a", "rank": 0, "port": 6009},
        13: {"pid": 13, "host": "c", "port": 6011},
        14: {"pid": 14, "host": "d", "rank": 2, "port": None},
    }.items():
        (tmp_path / f"{pid}.json").write_text(json.dumps(process))
    (tmp_path / "15.json").write_text('{"pid": 15, "ho')
    (tmp_path / "16.json").write_text("[]")
    (tmp_path / "notes.txt").write_text("x")
    assert workers() == [Address("a", 6009), Address("b", 6010), Address("c", 6011)]
    (tmp_path / "logs").mkdir()
    tmp_path.rename(tmp_path.with_name(".tfprof"))  # the state folder of a log folder
    tmp_path.mkdir()
    tmp_path.with_name(".tfprof").rename(tmp_path / ".tfprof")
    assert len(workers()) == 3
    (tmp_path / ".tfprof" / "11.json").write_text(
        '{"pid": 11, "host": "b", "rank": 1, "port": 6099}'
    )  # another port
    assert workers()[1] == Address("b", 6099)


def test_processes_of_this_machine(tmp_path):
    """They are at localhost, and one that is gone is left out."""
    for pid, port in (os.getpid(), 6009), (1 << 30, 6010):
        process = {"pid": pid, "host": socket.gethostname(), "port": port}
        (tmp_path / f"{pid}.json").write_text(json.dumps(process))
    assert in_path(tmp_path)() == [Address("localhost", 6009)]


def test_ports():
    assert ports_of("6009") == (6009,)
    assert ports_of("6009-6011, 7000,6010") == (6009, 6010, 6011, 7000)
    for text in ("", "x", "0", "70000", "6011-6009", "1-5000", "6009,"):
        with pytest.raises(UsageError, match="is not a port"):
            ports_of(text)
