"""Many questions in SQL at once: few run, and the others wait or are refused."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tfprof.cli.mcp import answers as answers_module
from tfprof.cli.mcp.answers import Answers
from tfprof.sql import Database
from tfprof.testing.xspace_builders import event, host, line, opened, xspace

pytest.importorskip("duckdb")

pytestmark = pytest.mark.one_engine

ENDLESS = "select count(*) from range(10000000) a, range(10000000) b"


def test_two_run_at_once_and_others_wait_as_long_as_a_question_may_take(monkeypatch):
    now, most = 0, 0

    class Counted(Database):
        def __enter__(self):
            nonlocal now, most
            now += 1
            most = max(most, now)
            return super().__enter__()

        def __exit__(self, *error):
            nonlocal now
            now -= 1
            super().__exit__(*error)

    limits = replace(answers_module._LIMITS, seconds=0.5)
    monkeypatch.setattr(answers_module, "_LIMITS", limits)
    monkeypatch.setattr(answers_module, "Database", Counted)
    answers = Answers([opened(xspace(host(line(event("work", 0, 100)))))])
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(answers.query, [ENDLESS] * 8))
    assert most == 2
    reasons = [answer["cannot_answer"] for answer in found]
    assert any("its limit of 0.5 s" in reason for reason in reasons)
    assert any("2 other questions in SQL have run for 0.5 s" in reason for reason in reasons)
    assert answers.query("select 1 as one")["rows"] == [[1]]
