"""All answers on a capture say the same of its steps, of whatever kind it is."""

import pytest

from tests.captures.tools.oracle import CAPTURES, folder
from tests.truth.agreement import INPUT, STEP_TIME, disagreements, said_of


@pytest.mark.parametrize("name", CAPTURES)
def test_answers_on_steps_agree(name):
    assert disagreements(folder(name)) == []


def test_all_are_asked():
    said = [*said_of(folder("cpu-custom-loop-py"))]
    of_steps = {one.source for one in said if one.what == STEP_TIME}
    assert of_steps >= {"overview", "input_pipeline", "monitor", "check", "query", "whatif"}
    assert {one.source for one in said if one.what == INPUT} >= {"overview", "monitor", "check"}
