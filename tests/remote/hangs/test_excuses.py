"""Reasons for which a quiet process does not hang."""

import pytest

from tfprof.captures.run.hang_record import Frame, Rank, Thread
from tfprof.remote.hangs.excuses import excuse

pytestmark = pytest.mark.one_engine

OWN = Frame("step", "/job/train.py", 3)
MIB = 1 << 20


def rank(*frames, state="stands"):
    threads = (Thread("main", frames, is_main=True),) if frames else ()
    return Rank("h:1", 1, None, state, 60.0, threads=threads)


def test_nothing_excuses_a_process_that_stands_in_its_own_code():
    assert excuse(rank(OWN), 0.0) == ""
    assert excuse(rank(), 0.0) == ""


def test_a_library_that_compiles_is_one_and_a_function_of_the_program_with_its_name_is_not():
    of_jax = Frame("backend_compile_and_load", "/x/site-packages/jax/compiler.py", 9)
    assert excuse(rank(of_jax, OWN), 0.0) == "rank 1 (h:1) compiles"
    of_program = Frame("backend_compile", "/job/train.py", 9)
    assert excuse(rank(of_program, OWN), 0.0) == ""


@pytest.mark.parametrize("state", ["stopped", "silent", "ended"])
def test_files_that_are_read_excuse_only_a_process_that_runs(state):
    assert excuse(rank(OWN), MIB + 1.0) == "rank 1 (h:1) reads or writes files"
    assert excuse(rank(OWN), float(MIB)) == ""
    assert excuse(rank(state=state), MIB + 1.0) == ""


def test_servers_and_prompts_wait_for_others():
    waits = Frame("BaseServer.serve_forever", "/usr/lib/python3.11/socketserver.py", 9)
    words = "rank 1 (h:1) waits for requests or its user"
    assert excuse(rank(Frame("select", "/usr/lib/python3.11/selectors.py", 4), waits), 0.0) == words
