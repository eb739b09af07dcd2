from tfprof.captures.run.result import ToolResult
from tfprof.captures.run.table import Column, Table
from tfprof.ui.pages.last_answers import KEPT_ANSWERS, LastAnswers


def answer(n_rows=1):
    rows = [(row,) for row in range(n_rows)]
    return ToolResult("tool", "Tool", tables={"rows": Table("rows", (Column("row", "row"),), rows)})


def test_an_answer_is_made_once():
    answers, made = LastAnswers(), []
    for _ in range(3):
        found = answers.once("key", lambda: made.append(1) or answer())
    assert made == [1] and len(found.tables["rows"]) == 1


def test_those_asked_for_last_are_kept():
    answers, made = LastAnswers(kept_rows=25), []

    def ask(key):
        answers.once(key, lambda: made.append(key) or answer(10))

    for key in ("a", "b", "a", "c", "a", "b"):
        ask(key)
    assert made == ["a", "b", "c", "b"]


def test_an_answer_with_more_rows_than_have_room_is_given_but_not_kept():
    answers = LastAnswers(kept_rows=5)
    assert len(answers.once("large", lambda: answer(10)).tables["rows"]) == 10
    again = []
    answers.once("large", lambda: again.append(1) or answer(10))
    assert again


def test_answers_without_rows_do_not_pile_up():
    answers, made = LastAnswers(), []
    for key in [*range(KEPT_ANSWERS + 1), 0]:
        answers.once(key, lambda key=key: made.append(key) or answer(0))
    assert made.count(0) == 2
