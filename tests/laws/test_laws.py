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
from tests.laws.answers import answers_about
from tests.laws.files import answers_on_captures, answers_on_model, new_folder, written
from tests.laws.law import Law, names_of, of_tfprof

pytestmark = pytest.mark.one_engine
OF_CAPTURES = (*of_captures.LAWS, *of_times_and_names.LAWS)
SEED = 2


@functools.cache
def before(make, answers, seed):
    """The answers to the first input."""
    return answers(make(random.Random(seed)))


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
@pytest.mark.parametrize("law", of_profiles.LAWS, ids=names_of(of_profiles.LAWS))
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
