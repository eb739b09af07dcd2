"""The file of a history: the same from any order, shared, and never harmed by mistake."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.insight.history.runs import record
from tfprof.errors import (
    InputError,
    MissingDependencyError,
    UnknownFormatError,
    UsageError,
)
from tfprof.insight.history import store as store_module
from tfprof.insight.history.owner import MARK
from tfprof.insight.history.store import Store
from tfprof.insight.history.tables import TABLES

duckdb = pytest.importorskip("duckdb")


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "h.duckdb")


def all_rows(store):
    return {name: store.rows(name) for name in TABLES}


def test_what_was_added_comes_back_by_time(path):
    late = record(2, 11.5, commit="abc", labels={"branch": "main"}, versions={"jax": "0.10"})
    early = record(1, exact={"parameters": 7.0})
    Store(path).add([late, early], {"logs/a": ("1", late.id, ""), "logs/b": ("2", "", "torn")})
    first, second = Store(path).records()
    assert (first.id, second.id) == (early.id, late.id)
    assert second.figures == late.figures
    assert (second.commit, second.labels, second.versions) == ("abc", late.labels, late.versions)
    assert (second.source, first.source) == ("logs/a", "")
    assert Store(path).sources()["logs/b"] == ("2", "", "torn")


def test_adding_a_run_again_changes_nothing_but_its_commit_and_labels(path):
    store, one = Store(path), record(1, 10.0, commit="abc", labels={"a": "1", "b": "2"})
    store.add([one], {})
    before = all_rows(store)
    store.add([one], {})
    assert all_rows(store) == before
    store.add([record(1, 99.0, labels={"b": "3"})], {})
    [again] = store.records()
    assert again.figures["step_time"].value == 10.0
    assert (again.commit, again.labels) == ("abc", {"a": "1", "b": "3"})
    store.add([record(1, commit="def")], {})
    assert store.records()[0].commit == "def"


def test_any_order_and_any_batches_give_the_same_content(tmp_path):
    made = [record(n, 10.0 + n, labels={"n": str(n)}, versions={"jax": str(n)}) for n in range(5)]
    contents = []
    for number, size in enumerate((5, 2, 1)):
        store = Store(str(tmp_path / f"{number}.duckdb"))
        order = random.Random(number).sample(made, len(made))
        for first in range(0, len(order), size):
            part = order[first : first + size]
            store.add(part, {one.name: ("1", one.id, "") for one in part})
        contents.append((all_rows(store), store.records()))
    assert contents[0] == contents[1] == contents[2]


def test_hostile_texts_are_only_texts(path):
    name = "'; drop table runs; --\0\ud800\x1b[31m"
    one = record(1, commit=name, labels={name: name}, versions={"x": name})
    Store(path).add([one], {name: ("s", one.id, "")})
    [found] = Store(path).records()
    assert "drop table" in found.commit and "\0" not in found.commit
    assert len(found.labels) == 1


def test_a_database_of_another_program_is_left_alone(path):
    connection = duckdb.connect(path)
    connection.execute("create table runs (a integer)")
    connection.close()
    before = Path(path).read_bytes()
    for use in (Store(path).records, lambda: Store(path).add([record(1)], {})):
        with pytest.raises(UnknownFormatError, match=r"another program, with runs"):
            use()
    assert Path(path).read_bytes() == before


def test_views_that_pretend_to_be_tables_are_not_read(path, tmp_path):
    (tmp_path / "secret.csv").write_text("a\n1\n")
    connection = duckdb.connect(path)
    connection.execute(f"create table {MARK} (version integer)")
    for name in TABLES:
        connection.execute(f"create view {name} as select * from '{tmp_path}/secret.csv'")
    connection.close()
    with pytest.raises(UnknownFormatError, match="another program"):
        Store(path).records()


@pytest.mark.parametrize(
    "owned",
    ["create view v as select 1 as a", "create schema s; create table s.t (a int)",
     "create sequence q", "create macro min(a) as 7", "create type mood as enum ('good')"],
)  # fmt: skip
def test_a_database_without_tables_may_be_of_another_program(path, owned):
    connection = duckdb.connect(path)
    connection.execute(owned)
    connection.close()
    before = Path(path).read_bytes()
    with pytest.raises(UnknownFormatError, match="another program"):
        Store(path).add([record(1)], {})
    assert Path(path).read_bytes() == before


def test_an_empty_database_is_an_empty_history(path):
    """A program may end between making the file and making its tables."""
    duckdb.connect(path).close()
    assert (Store(path).records(), Store(path).sources()) == ([], {})
    Store(path).add([record(1)], {})
    assert len(Store(path).records()) == 1


@pytest.mark.parametrize(
    "change",
    ["alter table runs drop column machine", "alter table figures rename column low to least",
     "alter table figures alter value type varchar", "alter table labels add column x int"],
)  # fmt: skip
def test_other_columns_are_another_program(path, change):
    Store(path).add([record(1)], {})
    connection = duckdb.connect(path)
    connection.execute(change)
    connection.close()
    with pytest.raises(UnknownFormatError, match="columns"):
        Store(path).records()


def test_texts_that_are_null_are_empty(path):
    Store(path).add([record(1), record(2)], {"a": ("1", "", "")})
    connection = duckdb.connect(path)
    connection.execute('update runs set "commit" = null, program = null')
    connection.execute("update sources set trouble = null")
    connection.close()
    found = Store(path).records()
    assert [(one.commit, one.program) for one in found] == [("", "")] * 2
    assert Store(path).sources() == {"a": ("1", "", "")}


FULL = """
import resource, sys
from tests.insight.history.runs import record
from tfprof.errors import InputError
from tfprof.insight.history.store import Store
size = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
try:
    Store(sys.argv[1]).add([record(n, program="x" * 999) for n in range(2, 4000)], {})
except InputError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.skipif(os.name == "nt", reason="needs limits of files")
def test_a_full_disk_is_named_and_what_was_there_stays(path):
    Store(path).add([record(1)], {})
    limit = str(Path(path).stat().st_size + 40_000)
    done = subprocess.run(
        [sys.executable, "-c", FULL, path, limit], capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert done.stdout.startswith("InputError"), done.stderr
    assert "cannot be written" in done.stdout and "damaged" not in done.stdout
    assert [one.id for one in Store(path).records()] == [record(1).id]


def test_a_url_of_this_machine_is_its_file(path):
    Store(Path(path).as_uri()).add([record(1)], {})
    assert len(Store(path).records()) == 1


def test_a_history_in_a_bucket_is_not_written(path):
    with pytest.raises(UsageError, match="this machine"):
        Store("memory://bucket/h.duckdb").add([record(1)], {})


def test_another_file_is_named(path):
    for content in (b"", b"hello, this is a text and no database at all", b"\x1f\x8b" * 40):
        Path(path).write_bytes(content)
        with pytest.raises(UnknownFormatError, match="not a history"):
            Store(path).records()


def test_a_torn_file_is_damaged_and_stays_as_it_is(path):
    Store(path).add([record(n) for n in range(200)], {})
    whole = Path(path).read_bytes()
    for size in (20, len(whole) // 2):
        Path(path).write_bytes(whole[:size])
        with pytest.raises(InputError, match="damaged"):
            Store(path).records()
        with pytest.raises(InputError, match="damaged"):
            Store(path).add([record(1)], {})
        assert Path(path).read_bytes() == whole[:size]


def test_another_version_is_refused(path):
    Store(path).add([record(1)], {})
    connection = duckdb.connect(path)
    connection.execute(f"update {MARK} set version = 99")
    connection.close()
    with pytest.raises(UnknownFormatError, match="has version 99"):
        Store(path).records()


HOLDS = """
import duckdb, sys, time
connection = duckdb.connect(sys.argv[1])
print("open", flush=True)
time.sleep(float(sys.argv[2]))
"""


def held(path, seconds):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS, path, str(seconds)], stdout=subprocess.PIPE
    )
    assert process.stdout.readline() == b"open\n"
    return process


def test_a_file_that_another_process_has_open_is_waited_for(path, monkeypatch):
    Store(path).add([record(1)], {})
    with held(path, 1.0) as process:
        began = time.monotonic()
        Store(path).add([record(2)], {})
        assert time.monotonic() - began > 0.3
        assert len(Store(path).records()) == 2
        process.wait(20)
    monkeypatch.setattr(store_module, "WAIT_SECONDS", 0.2)
    with held(path, 60) as process:
        with pytest.raises(InputError, match="another program has kept this history open"):
            Store(path).records()
        process.kill()


@pytest.mark.slow
def test_two_agents_at_once_lose_nothing(path):
    program = (
        "import sys; from tests.insight.history.runs import record\n"
        "from tfprof.insight.history.store import Store\n"
        "for n in range(4): Store(sys.argv[1]).add([record(int(sys.argv[2]) + n)], {})"
    )
    both = [subprocess.Popen([sys.executable, "-c", program, path, str(n)]) for n in (0, 100)]
    assert [one.wait(60) for one in both] == [0, 0]
    assert len(Store(path).records()) == 8


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="no one denies root")
def test_a_folder_that_cannot_be_written(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="--db"):
        Store(str(tmp_path / "h.duckdb")).add([record(1)], {})


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="cannot be opened"):
        Store(str(tmp_path / "none" / "h.duckdb")).add([record(1)], {})


def test_without_duckdb(monkeypatch, path):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingDependencyError, match=r"tfprof\[sql\]"):
        Store(path)
