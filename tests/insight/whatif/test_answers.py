"""The sentence and the tables of an answer, by hand."""

import pytest

import tfprof
from tests.insight.whatif.hand_made import at, captured, two_ops
from tfprof.testing.xspace_builders import host, line, opened, xspace


def answered(**how):
    [claim] = tfprof.whatif(captured(two_ops), **how).claims
    return claim


def test_what_would_change():
    claim = answered(faster={"MatMul": 4})
    assert claim.text == (
        "A step would take 7.00 ms instead of 10.0 ms (30.0% less); the critical path is then "
        "mostly host ops (57%)."
    )
    assert (claim.metric, claim.value, claim.scope) == ("predicted_step_time", 7.0, "6 steps")
    assert claim.details["kind_share"] == pytest.approx(4 / 7)


def test_what_nothing_waits_for():
    assert answered(faster={"MatMul": 1}).text == (
        "A step would still take 10.0 ms: what is faster is not waited for; the critical path is "
        "then mostly host ops (70%)."
    )
    # 0.04 % less, and 0.08 % less.
    assert "would still take" in answered(faster={"MatMul": 4000 / 3996}).text
    assert "(0.1% less)" in answered(faster={"MatMul": 4000 / 3992}).text


def test_without_a_change_the_path_of_now():
    claim = answered()
    assert claim.text == "A step takes 10.0 ms; 70% of its critical path is host ops."
    assert (claim.metric, claim.value) == ("step_time", 10.0)


def test_the_path_in_a_step_on_average():
    answer = tfprof.whatif(captured(two_ops))
    kinds = answer.to_rows("path")
    assert [row["kind"] for row in kinds] == ["host ops", "program and runtime"]
    assert [row["time_ms"] for row in kinds] == pytest.approx([7, 3])
    ops = answer.to_rows("path_ops")
    assert [row["time_ms"] for row in ops] == pytest.approx([4, 3, 2, 1])
    assert [row["share"] for row in ops] == pytest.approx([0.4, 0.3, 0.2, 0.1])


def steps(*lengths_us):
    """Steps of one op each, which follow one another."""
    made, begin = [], 0
    for number, length in enumerate(lengths_us):
        made += [at("train", begin, length, step_num=number, _r=1),
                 at("a:MatMul", begin, length)]  # fmt: skip
        begin += length
    return opened(xspace(host(line(*made))))


def test_the_mean_and_the_deviation_of_steps():
    """9, 10 and 11 ms deviate by 1 ms; of half of that, by half."""
    answer = tfprof.whatif(steps(9_000, 10_000, 11_000), faster={"MatMul": 2})
    mean, deviation, first, *_ = answer.to_rows("step")
    assert (mean["before_ms"], mean["after_ms"], mean["change"]) == pytest.approx((10, 5, -0.5))
    assert (deviation["before_ms"], deviation["after_ms"]) == pytest.approx((1, 0.5))
    assert (deviation["difference_ms"], deviation["change"]) == (None, None)
    assert first["difference_ms"] == pytest.approx(-4.5)
    assert not any("left out" in note.message for note in answer.notes)


def test_two_steps_deviate():
    """9 and 11 ms: by the root of 2."""
    answer = tfprof.whatif(steps(9_000, 11_000), faster={"MatMul": 2})
    mean, deviation, *_ = answer.to_rows("step")
    assert (mean["before_ms"], mean["after_ms"]) == pytest.approx((10, 5))
    assert (deviation["before_ms"], deviation["after_ms"]) == pytest.approx((2**0.5, 0.5**0.5))


def test_one_step_deviates_from_nothing():
    answer = tfprof.whatif(steps(9_000), faster={"MatMul": 3})
    assert [row["step"] for row in answer.to_rows("step")] == ["mean", "train 0"]
    assert answer.claims[0].scope == "1 step"


def test_steps_that_are_left_out_have_a_note():
    answer = tfprof.whatif(steps(*[10_000] * 4, 90_000, 10_000), faster={"MatMul": 2})
    assert len(answer.to_rows("step")) == 2 + 5
    assert answer.to_rows("step")[0]["after_ms"] == pytest.approx(5)
    assert any(note.message.startswith("1 of 6 steps are left out") for note in answer.notes)


def test_another_host_can_be_the_slowest_one_then():
    """Steps of 10 ms of a product on one host, and of 8 ms of a sum on the other one."""

    def worker(op, length):
        made = []
        for n in range(4):
            made += [at("train", n * length, length, step_num=n, _r=1), at(op, n * length, length)]
        return host(line(*made))

    run = opened(*(xspace(worker(op, ms * 1000), hostname=op[0]) for op, ms in
                   (("a:MatMul", 10), ("b:Sum", 8))))  # fmt: skip
    for faster, after_ms in ((2, 8), (1.125, 80 / 9)):
        mean = tfprof.whatif(run, faster={"MatMul": faster}).to_rows("step")[0]
        assert (mean["before_ms"], mean["after_ms"]) == pytest.approx((10, after_ms))


def test_the_title():
    assert tfprof.whatif(captured(two_ops)).title == "The critical path of a step"
    assert tfprof.whatif(captured(two_ops), free="Sum").title == "What if"
