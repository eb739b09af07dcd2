"""The record of a hang: what is read back, and what it states."""

import json
from dataclasses import replace

import pytest

from tfprof.captures.run.hang_record import HANG_NAME, Frame, Hang, Rank, Thread, hang_of

pytestmark = pytest.mark.one_engine

STEP = (Frame("wait", "/usr/lib/python3.11/threading.py", 3), Frame("step", "/job/train.py", 30))
LOCK = (Frame("take", "/job/save.py", 9),)


def rank(number, frames, **values):
    threads = (Thread("main", frames, is_main=True),)
    return Rank(f"h:{number}", number, 100 + number, "stands", 60.0, threads=threads, **values)


RANKS = (
    *(rank(at, STEP, entered="psum.3") for at in range(3)), rank(3, LOCK, completed="psum.3"),
)  # fmt: skip
HANG = Hang(1000.0, 927.0, 0.25, RANKS, (3,), "3 of 4 ranks have entered psum.3")


def written(folder, text):
    (folder / HANG_NAME).write_text(text)
    return hang_of(folder)


def test_a_record_is_read_back(tmp_path):
    assert hang_of(tmp_path) is None
    assert written(tmp_path, HANG.to_json()) == HANG
    assert hang_of(str(tmp_path)) == HANG


def test_the_verdict():
    hang, culprit, others, last, remedy = [claim.text for claim in HANG.claims]
    assert hang == (
        "Hang of ranks 0 to 3: no progress for 73 s; a step usually comes every 250 ms."
    )
    assert culprit == (
        "rank 3 (h:3) has its main thread standing still in take (save.py:9): 3 of 4 ranks have "
        "entered psum.3."
    )
    assert others == (
        "ranks 0 to 2: waiting in step (train.py:30), in wait (threading.py:3), entered psum.3."
    )
    assert last == "The last collective that the named rank completed is psum.3."
    assert "--table stacks" in remedy


def test_an_unknown_rank_has_no_number():
    claim = replace(HANG, named=(), basis="all of them stand at the same place").claims[1]
    assert claim.value is None and not claim.is_known
    assert claim.text == (
        "It is not known which rank the others wait for: all of them stand at the same place."
    )


def test_a_job_that_went_on():
    assert (
        replace(HANG, went_on_seconds=80.0)
        .claims[0]
        .text.endswith("no progress for 80 s; a step usually comes every 250 ms. Then it went on.")
    )


def test_a_rank_is_busy():
    busy = replace(HANG, ranks=(replace(RANKS[3], cpu_percent=99.6),), named=(0,))
    assert "busy, with 100 % of a core, in take" in busy.claims[1].text


@pytest.mark.parametrize("state", ["stopped", "silent", "ended", "works", "unseen", "runs"])
def test_every_state_has_words(state):
    for threads in (RANKS[3].threads, ()):
        ranks = (*RANKS[:3], replace(RANKS[3], state=state, threads=threads))
        assert all(claim.text for claim in replace(HANG, ranks=ranks).claims)


def change(**values):
    return {**json.loads(HANG.to_json()), **values}


@pytest.mark.parametrize(
    "about",
    [
        [], None, {}, change(ranks=None), change(ranks=[3]), change(named=[7]), change(time="x"),
        change(named=[-1]), change(usual_seconds="fast"), change(ranks=[{"address": 1}]),
    ],
)  # fmt: skip
def test_a_damaged_record_is_none(tmp_path, about):
    assert written(tmp_path, json.dumps(about)) is None
    assert written(tmp_path, HANG.to_json()[:-30]) is None


def test_names_in_braces_stay(tmp_path):
    ranks = (replace(RANKS[3], address="{x}", completed="{y.z}"),)
    found = written(tmp_path, replace(HANG, ranks=ranks, named=(0,), basis="{b}").to_json())
    assert "{x}" in found.claims[1].text and "{b}" in found.claims[1].text


def test_code_of_the_program_and_of_libraries():
    assert Frame("f", "/home/me/train.py", 1).is_own
    for file in ("/x/site-packages/jax/a.py", "/usr/lib/python3.11/q.py", "<frozen runpy>"):
        assert not Frame("f", file, 1).is_own
