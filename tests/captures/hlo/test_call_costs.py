"""Costs of calls that users state."""

import pytest

from tfprof.captures.hlo.call_costs import CallCost, CallCosts, costs_of_text, register_cost
from tfprof.errors import UsageError


def test_a_later_cost_wins_and_older_values_stay_as_they_are():
    first = register_cost("kernel*", flops=1)
    second = register_cost("kernel_a", flops=2.0, bytes=3, costs=first)
    assert second.of("", "kernel_a") == CallCost(2, 3)
    assert second.of("kernel_b") == CallCost(1)
    assert first.of("kernel_a") == CallCost(1)
    assert second.of("other", "") is None
    assert register_cost("kernel*", flops=9, costs=second).of("kernel_a") == CallCost(9)


def test_a_file_holds_the_same():
    costs = register_cost("a", flops=2, bytes=3, costs=register_cost("b*", flops=1))
    assert costs_of_text(costs.to_json()) == costs
    assert costs_of_text("{}") == CallCosts()


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"a": 1}', '{"a": {}}', '{"a": {"flops": -1}}', '{"a": {"flops": "1"}}',
     '{"a": {"flops": true}}', '{"a": {"flops": 1, "byte": 2}}', '{"a": {"flops": 1e400}}',
     '{"": {"flops": 1}}'],
)  # fmt: skip
def test_anything_else_is_an_error(text):
    with pytest.raises(UsageError):
        costs_of_text(text)
