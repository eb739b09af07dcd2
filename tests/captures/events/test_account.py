"""The account of time: starts and ends of steps, and the start of each next one."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.captures.events.steps.account import account, lost_after
from tfprof.captures.facts.run_steps import host_steps, periods_of, run_steps
from tfprof.testing.xspace_builders import event, host, line, opened, xspace

NO = (-1, -1)
US = 1000


def periods(marks, work=()):
    """(start, done, end) of each step."""
    spans = [(*work, *[NO] * len(marks))[number] for number in range(len(marks))]
    found = account(
        np.arange(len(marks)), np.array(marks).reshape(-1, 2), np.array(spans).reshape(-1, 2)
    )
    return list(
        zip(found.start_ps.tolist(), found.done_ps.tolist(), found.end_ps.tolist(), strict=True)
    )


def test_a_period_lasts_until_the_next_step_begins():
    assert periods([(0, 10), (15, 25), (30, 40)]) == [(0, 10, 15), (15, 25, 30), (30, 40, 40)]


def test_a_mark_may_begin_and_end_at_zero():
    assert periods([(0, 0), (5, 6)]) == [(0, 0, 5), (5, 6, 6)]


def test_a_step_is_done_when_its_work_is():
    # Marks of 1 that each launch work of 10: the program runs ahead of the device.
    marks, work = [(0, 1), (1, 2), (2, 3)], [(0, 10), (10, 20), (20, 30)]
    assert periods(marks, work) == [(0, 10, 10), (10, 20, 20), (20, 30, 30)]


def test_a_result_that_is_read_one_step_late():
    # Each mark launches work, then waits for that of the previous step.
    marks, work = [(0, 1), (1, 10), (11, 20)], [(0, 10), (10, 20), (20, 30)]
    assert periods(marks, work) == [(0, 10, 10), (10, 20, 20), (20, 30, 30)]


def test_what_is_between_steps_begins_when_the_work_is_done():
    marks, work = [(0, 1), (30, 31)], [(0, 10), (30, 40)]
    assert periods(marks, work) == [(0, 10, 30), (30, 40, 40)]


def test_a_step_without_a_mark_spans_its_work():
    assert periods([(0, 10), NO], [(2, 8), (12, 20)]) == [(0, 10, 12), (12, 20, 20)]


def test_marks_of_several_threads_have_no_period():
    assert periods([(0, 10), (5, 15)]) == [(0, 10, 10), (5, 15, 15)]
    assert periods([(0, 10), (5, 15)], [(2, 30), NO]) == [(0, 30, 30), (5, 15, 15)]


@pytest.mark.parametrize(
    ("names", "lost"),
    [
        ([f"train {n}" for n in range(20)], []),
        ([f"train {n}" for n in [*range(9), *range(11, 20)]], [8]),
        ([f"train {n}" for n in [*range(0, 90, 10), *range(120, 250, 10)]], [8]),
        ([f"train {n}" for n in [*range(9), *range(11)]], []),  # numbers begin anew
        ([f"train {n * n}" for n in range(20)], []),  # they mean something else
        ([f"train {n}" for n in (1, 5)], []),
        ([*[f"train {n}" for n in range(5)], "eval 0", "eval 1", "train 5", "train 6"], []),
        (["train", "train", "7", "8"], []),
        ([], []),
    ],
)
def test_numbers_tell_where_steps_are_missing(names, lost):
    numbers = [int(name.rpartition(" ")[2]) if " " in name else 0 for name in names]
    starts = np.cumsum(10 * np.maximum(np.diff([0, *numbers]), 1))  # enough time for all of them
    assert np.flatnonzero(lost_after(names, starts)).tolist() == lost


def test_names_without_a_number_follow_nothing():
    names = [f"train {n}" for n in range(3, 23)]
    starts = 100 * np.arange(21)
    assert not lost_after(["train x", *names], starts).any()
    starts[10:] += 5_000
    assert not lost_after([*names[:9], "train x", *names[9:]], starts).any()
    assert not lost_after([*names[:9], f"train {10**18}", *names[9:]], starts).any()


def test_steps_of_another_kind_miss_nothing_and_step_zero_counts():
    starts = 100 * np.arange(22)
    starts[11:] += 10_000
    names = [f"train {n}" for n in range(11)]
    other = [*names, "eval 50", *(f"train {n}" for n in range(11, 21))]
    assert not lost_after(other, starts).any()
    starts = 100 * np.arange(22)
    starts[1:] += 1_000
    zero = ["train 0", *(f"train {n}" for n in range(9, 30))]
    assert np.flatnonzero(lost_after(zero, starts)).tolist() == [0]


def test_missing_steps_take_half_of_the_usual_time_at_least():
    """Ten are missing; steps take 100."""
    names = [f"train {n}" for n in [*range(10), *range(20, 30)]]
    for waited, is_lost in ((550, True), (549, False)):
        starts = 100 * np.arange(20)
        starts[10:] += waited - 100
        assert lost_after(names, starts)[9] == is_lost


def test_nine_of_ten_numbers_go_up_regularly():
    names = [f"train {n}" for n in [*range(10), 14]]
    assert lost_after(names, np.array([*range(0, 1000, 100), 1500])).tolist() == [
        *[False] * 9, True, False,
    ]  # fmt: skip
    assert not lost_after(names[1:], np.array([*range(0, 900, 100), 1500])).any()


def test_numbers_of_two_hosts_or_threads_come_twice():
    names = [f"train {n}" for n in [*range(10), *range(15, 20)] for _ in range(2)]
    starts = 100 * np.arange(30)
    starts[20:] += 1_000
    assert np.flatnonzero(lost_after(names, starts)).tolist() == [19]


def test_other_ends_of_periods_never_cut_a_step():
    found = account(np.array([3, 5]), np.array([(0, 10), (20, 30)]), np.array([NO, NO]))
    assert found.until({3: 15, 5: 25}).end_ps.tolist() == [15, 30]
    assert found.until({}).end_ps.tolist() == [20, 30]


def test_numbers_that_jump_without_time_for_steps_are_the_programs():
    """A program numbers its steps by epoch and batch; between epochs it reads its input anew."""
    names = [f"train {1000 * epoch + batch}" for epoch in range(3) for batch in range(30)]
    starts = np.array([1000 * epoch + 10 * batch for epoch in range(3) for batch in range(30)])
    assert not lost_after(names, starts).any()


def test_where_nothing_was_recorded_a_step_has_no_period():
    numbers = [row if row < 10 else row + 80 for row in range(20)]
    marks = [(10 * number, 10 * number + 5) for number in numbers]
    names = {row: f"train {number}" for row, number in enumerate(numbers)}
    found = account(np.arange(20), np.array(marks), np.full((20, 2), -1), names)
    took = (found.end_ps - found.start_ps).tolist()
    assert took == [10] * 9 + [5] + [10] * 9 + [5]


def test_order_of_groups_is_not_that_of_time():
    assert periods([(15, 25), (0, 10)]) == [(15, 25, 25), (0, 10, 15)]


spans = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9), st.integers(0, 9),
                           st.integers(0, 30)), min_size=1, max_size=8)  # fmt: skip


@given(spans)
def test_periods_follow_one_another(rows):
    marks, work, now = [], [], 0
    for gap, length, late, busy in rows:
        begin = now + gap
        now = begin + length
        marks.append((begin, now))
        before = max((end for _, end in work), default=0)
        work.append((begin + late, max(before, begin + late) + busy) if busy else NO)
    found = periods(marks, work)
    for start, done, end in found:
        assert start <= done <= end
    for (_, _, end), (start, _, _) in pairwise(found):
        assert end == start
    last = max(end for _, end in [marks[-1], *work])
    assert found[-1][2] == max(last, marks[-1][1])


def test_events_between_steps_belong_to_the_period_before():
    space = xspace(
        host(
            line(
                event("train", 0, 10 * US, step_num=0, _r=1),
                event("a:MatMul", 0, 10 * US),
                event("IteratorGetNext:IteratorGetNext", 12 * US, 5 * US),
                event("train", 20 * US, 10 * US, step_num=1, _r=1),
                event("a:MatMul", 20 * US, 10 * US),
            ),
            line(event("IteratorGetNext:IteratorGetNext", 11 * US, 8 * US), id=2),
        )
    )
    run = opened(space)
    times = host_steps(run.hosts[0], 0).times
    assert times.duration_ps.tolist() == [20 * US * 1000, 10 * US * 1000]
    assert times.gap_ps.tolist() == [10 * US * 1000, 0]
    # Prefetching on another thread does not count as waiting on this one.
    assert run_steps(run).share_of("infeed") == 5 / 30
    assert periods_of(run.hosts[0]).is_between.sum() == 1


def test_code_of_the_thread_of_the_first_step_is_between_steps():
    space = xspace(
        host(
            line(
                event("train", 0, 10 * US, step_num=0, _r=1),
                event("a:MatMul", 0, 10 * US),
                event("$a.py:1 own", 11 * US, 4 * US),
            ),
            line(
                event("train", 20 * US, 10 * US, step_num=1, _r=1),
                event("a:MatMul", 20 * US, 10 * US),
                id=2,
            ),
        )
    )
    assert periods_of(opened(space).hosts[0]).is_between.sum() == 1


def test_events_around_a_step_are_not_between_steps():
    """One begins before the first step, one begins in a gap; both end in a gap after the step."""

    def at(name, begin, end, **stats):
        return event(name, begin * US, (end - begin) * US, **stats)

    steps = [(5, 15), (30, 40), (60, 70)]
    marks = [at("train", *span, step_num=n, _r=1) for n, span in enumerate(steps)]
    ops = [at("a:MatMul", *span) for span in steps]
    others = [at("$a.py:1 early", 0, 18), at("$a.py:2 own", 19, 24), at("$a.py:3 late", 26, 58),
              at("$a.py:4 after", 71, 80), at("$a.py:5 in", 58, 60)]  # fmt: skip
    own = opened(xspace(host(line(*marks, *ops, *others)))).hosts[0]
    found = periods_of(own)
    timeline = own.forest().timeline
    names = [timeline.names[kind] for kind in timeline.kinds[found.is_between].tolist()]
    assert names == ["$a.py:2 own", "$a.py:5 in"]
    assert found.groups.of_event[found.is_between].tolist() == found.steps.groups[:2].tolist()


def test_what_begins_in_a_step_and_ends_behind_it_begins_where_the_step_is_done():
    """Nothing is between steps that ends with its step, or takes no time."""
    events = [event("train", 20 * n * US, 10 * US, step_num=n, _r=1) for n in range(2)]
    events += [event("a:MatMul", 20 * n * US, 5 * US) for n in range(2)]
    code = [event("$a.py:1 over", 8 * US, 6 * US), event("$a.py:2 in", 9 * US, 1 * US),
            event("$a.py:3 none", 16 * US, 0), event("$a.py:4 own", 17 * US, 2 * US)]  # fmt: skip
    other = event("train", 40 * US, 10 * US, step_num=2, _r=1)
    run = opened(xspace(host(line(*events), line(other, *code, id=2))))
    timeline, found = run.hosts[0].timeline, periods_of(run.hosts[0])
    between = np.flatnonzero(found.is_between)
    assert [timeline.name(one) for one in between.tolist()] == ["$a.py:1 over", "$a.py:4 own"]
    assert found.clipped(between, timeline.starts_ps[between]).tolist() == [
        10 * US * 1000, 17 * US * 1000,
    ]  # fmt: skip


def test_ops_between_steps_are_work_on_whatever_thread():
    """Ops of a called evaluation count; independent ops of other threads do not."""
    of_jax = {"hlo_op": "dot", "run_id": 7, "device_ordinal": 0}
    space = xspace(
        host(
            line(
                event("train", 0, 10 * US, step_num=0, _r=1),
                event("a:MatMul", 0, 10 * US),
                event("evaluate", 11 * US, 8 * US, _pt=1, _p=9),
                event("train", 40 * US, 10 * US, step_num=1, _r=1),
                event("a:MatMul", 40 * US, 10 * US),
            ),
            line(event("b:Conv2D", 12 * US, 6 * US, _ct=1, _c=9), id=2),
            line(event("c:Conv2D", 12 * US, 20 * US), id=3),
            line(event("dot", 22 * US, 5 * US, **of_jax), id=4),
        )
    )
    run = opened(space)
    timeline, periods = run.hosts[0].timeline, periods_of(run.hosts[0])
    between = [timeline.name(number) for number in np.flatnonzero(periods.is_between).tolist()]
    assert sorted(between) == ["b:Conv2D", "dot", "evaluate"]
    assert run_steps(run).share_of("host_compute") == (10 + 6 + 5 + 10) / 50


def test_what_encloses_steps_lies_between_none():
    space = xspace(
        host(
            line(
                event("run", 0, 100 * US),
                event("train", 10 * US, 10 * US, step_num=0, _r=1),
                event("train", 40 * US, 10 * US, step_num=1, _r=1),
            )
        )
    )
    assert not periods_of(opened(space).hosts[0]).is_between.any()


def test_a_mark_around_several_marks_is_not_a_step():
    events = []
    for epoch in range(2):
        begin = 100 * epoch * US
        events.append(event("epoch", begin, 90 * US, step_num=epoch, _r=1))
        events += [
            event("train", begin + number * 30 * US, 20 * US, step_num=number, _r=1)
            for number in range(3)
        ]
    run = opened(xspace(host(line(*events))))
    assert list(run_steps(run).names) == ["train 0", "train 1", "train 2"] * 2


def test_steps_of_two_kinds_are_never_averaged():
    events = []
    for number in range(6):
        name, length = ("eval", 5) if number % 2 else ("train", 10)
        events.append(event(name, number * 20 * US, length * US, step_num=number, _r=1))
    steps = run_steps(opened(xspace(host(line(*events)))))
    assert steps.main_kind == "train"
    assert list(steps.typical.names) == ["train 0", "train 2", "train 4"]
    assert steps.n_steps == 6
