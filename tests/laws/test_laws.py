"""Laws over all answers: input changes, and answers change as they must or not at all.

``python -m tests.laws FOLDER`` checks those about captures on all captures of a folder.
"""

import functools
import gzip
import json
import lzma
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.laws import drawn, of_captures, of_profiles, of_reading, of_times_and_names
from tests.laws.answers import answer_about, answers_about, differences
from tests.laws.files import answers_on_captures, answers_on_model, new_folder, written
from tests.laws.law import Law, names_of, of_tfprof, same
from tfprof import diff
from tfprof.captures.hosts.asked import fleet_of
from tfprof.sql import Database
from tfprof.tools import SliceChoice, slice_capture

pytestmark = pytest.mark.one_engine
OF_CAPTURES = (*of_captures.LAWS, *of_times_and_names.LAWS)
OF_PROFILES = (*of_profiles.LAWS, *of_reading.LAWS_OF_PROFILES)
SEED = 2


@functools.cache
def before(make, answers, seed):
    """The answers to the first input."""
    return answers(make(random.Random(seed)))


TURNED = {"longer": "shorter", "shorter": "longer", "appeared": "gone", "gone": "appeared"}
OF_ONE_SIDE = ("relative", "points", "cause", "op_before")


def mirrored(row):
    """A row of a difference as it should be if the first run were the second."""
    low, high = (None if row[end] is None else 0.0 - row[end] for end in ("high_ms", "low_ms"))
    turned = {
        "before_ms": row["after_ms"], "after_ms": row["before_ms"], "low_ms": low, "high_ms": high,
        "difference_ms": 0.0 - row["difference_ms"],
        "verdict": TURNED.get(row["verdict"], row["verdict"]),
    }  # fmt: skip
    return {key: each for key, each in {**row, **turned}.items() if key not in OF_ONE_SIDE}


def check(law, make, answers, seed=SEED):
    ask = law.answers or answers
    second = ask(law.change(random.Random(seed), make(random.Random(seed))))
    assert list(law.broken(before(make, answers, seed), second)) == []


def test_the_form_of_files_changes_no_answer_about_captures():
    law = Law("all at once", of_captures.all_shuffled, of_tfprof)
    check(law, drawn.capture, answers_on_captures)


def test_the_form_of_files_changes_no_answer_about_a_profile():
    law = Law("all at once", of_profiles.all_shuffled)
    check(law, drawn.model, answers_on_model)


def test_a_broken_law_names_the_answer_and_the_place():
    law = Law("of one", lambda chance, given: given, lambda name: name != "c")
    first = {"a": {"rows": [1, 2]}, "b": 1.0, "c": 5}
    second = {"a": {"rows": [1, 3]}, "b": 1.0 + 1e-15, "d": 6}
    assert list(law.broken(first, second)) == [
        "a/rows[1]: '2' and '3'", "d: 'no such answer' and '6'",
    ]  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("law", OF_CAPTURES, ids=names_of(OF_CAPTURES))
def test_laws_about_captures(law):
    check(law, drawn.capture, answers_on_captures)


@pytest.mark.thorough
@pytest.mark.parametrize("law", of_reading.LAWS, ids=names_of(of_reading.LAWS))
def test_laws_about_reading(law):
    check(law, drawn.unlike_hosts, answers_on_captures)


@pytest.mark.thorough
@pytest.mark.parametrize("law", OF_PROFILES, ids=names_of(OF_PROFILES))
def test_laws_about_profiles(law):
    check(law, drawn.model, answers_on_model)


@pytest.mark.thorough
def test_packed_files_in_a_folder_are_the_same_run():
    with new_folder():
        first, second = map(Path, written(drawn.capture(random.Random(SEED))))
        plain = answers_about("run")
        for path, pack in ((first, gzip.compress), (second, lzma.compress)):
            ending = {gzip.compress: ".gz", lzma.compress: ".xz"}[pack]
            path.with_name(path.name + ending).write_bytes(pack(path.read_bytes()))
            path.unlink()
        assert answers_about("run") == plain


@pytest.mark.thorough
def test_no_process_and_no_engine_changes_a_byte():
    """Any seed of hashes; compiled readers or those in Python; each is a process of its own."""
    program = (
        "import json; from tests.laws import answers as a; print(json.dumps(a.digests_of('run')))"
    )
    root = str(Path(__file__).parents[2])
    with new_folder():
        written(drawn.capture(random.Random(SEED)))
        found = []
        for more in ({"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "2", "TFPROF_PURE": "1"}):
            done = subprocess.run(
                [sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": root, **more},
                capture_output=True, text=True, check=True, timeout=300,
            )  # fmt: skip
            found.append(json.loads(done.stdout))
    assert {name for name in found[0] if found[0][name] != found[1].get(name)} == set()


@pytest.mark.thorough
def test_slices_hold_the_events_of_their_steps_and_a_slice_of_a_slice_is_one():
    tables = ("table events", "table steps")

    def cut(source, target, first, last):
        """The rows of a slice, and its files."""
        slice_capture(source, target, SliceChoice(steps=(first, last)))
        (folder,) = Path(target).glob("plugins/profile/*")
        rows = {name: answer_about(name, str(folder)) for name in tables}
        return rows, [path.read_bytes() for path in sorted(folder.iterdir())]

    with new_folder():
        written(drawn.capture(random.Random(SEED)))
        whole, _ = cut("run", "whole", 3, 5)
        (first, _), (others, _) = cut("run", "first", 3, 3), cut("run", "others", 4, 5)
        for table in tables:
            parts = [*first[table], *others[table]]
            assert sorted(parts, key=str) == sorted(whole[table], key=str)
        (_, again), (_, once) = cut("others", "last of others", 5, 5), cut("run", "last", 5, 5)
        assert again == once


@pytest.mark.thorough
def test_a_difference_turned_round_is_its_mirror_and_depends_on_no_form():
    slower = {law.name: law.change for law in OF_CAPTURES}["twice as long"]

    def compared(form):
        """The difference of two runs, from each to the other, and of one to itself."""
        with new_folder():
            for name, change in (("a", same), ("b", slower)):
                chance = random.Random(name)
                made = change(chance, drawn.capture(chance, n_steps=12))
                written(form(random.Random(name), made), folder=name)
            return [diff(*pair).to_dict()["tables"] for pair in ("ab", "ba", "aa")]

    there, back, none = compared(same)
    for name, table in there.items():
        found = [mirrored(row) for row in table["rows"]]
        expected = [{key: row[key] for key in found[0]} for row in back[name]["rows"]]
        assert list(differences(found, expected)) == []
    for row in (row for table in none.values() for row in table["rows"]):
        assert row["difference_ms"] == 0
        assert row["verdict"] in ("within noise", "cannot tell")
    verdicts = {row["verdict"] for table in there.values() for row in table["rows"]}
    assert {"longer", "within noise"} <= verdicts
    assert compared(of_captures.all_shuffled) == [there, back, none]


@pytest.mark.thorough
def test_the_form_of_files_changes_no_table_of_queries():
    pytest.importorskip("duckdb")
    of_file = {"event_id", "parent_id", "pid"}

    def rows_of_tables(change):
        """The rows of all tables, without numbers that are places in a file."""
        spaces = change(random.Random(SEED), drawn.capture(random.Random(SEED)))
        with new_folder(), Database(*written(spaces)) as database:
            columns = {
                table.name: ", ".join(f'"{c.name}"' for c in table.columns if c.name not in of_file)
                for table in database.tables()
            }
            return {
                name: sorted(database.query(f"select {some} from {name}").to_rows("rows"), key=str)
                for name, some in columns.items()
            }

    plain = rows_of_tables(same)
    assert len(plain) > 50
    assert list(differences(plain, rows_of_tables(of_captures.all_shuffled))) == []


@pytest.mark.thorough
def test_a_dask_cluster_changes_no_answer():
    distributed = pytest.importorskip("distributed", reason="needs Dask")
    from tfprof.captures.hosts.dask_engine import DaskEngine

    make, law = drawn.unlike_hosts, Law("Dask")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, protocol="tcp://",
            host="127.0.0.1", dashboard_address=None,
        ) as theirs,
        new_folder(),
    ):  # fmt: skip
        paths = written(make(random.Random(SEED)))
        engine = DaskEngine(theirs.scheduler_address)
        second = of_reading.in_one_go(paths, fleet_of(paths, engine=engine))
    assert list(law.broken(before(make, answers_on_captures, SEED), second)) == []
