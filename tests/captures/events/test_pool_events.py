"""Work of thread pools for a step, if the capture does not state which thread requested it."""

from tfprof.testing.xspace_builders import event, host, line, opened, xspace


def groups_of(name, *planes):
    """Groups of the events with a name, in order of time."""
    one = opened(xspace(*planes)).hosts[0]
    timeline, of_event = one.timeline, one.groups().of_event
    chosen = [at for at in range(len(timeline)) if timeline.name(at) == name]
    return [int(of_event[at]) for at in sorted(chosen, key=lambda at: timeline.starts_ps[at])]


def mark(start, number, length=90):
    return event("train", start, length, step_num=number, _r=1)


def dot(start, length=10):
    return event("dot.1", start, length, hlo_op="dot.1", program_id=3)


POOL = {"id": 2, "name": "tf_XLAEigen/7"}


def test_what_began_during_a_step_belongs_to_it():
    threads = host(line(mark(0, 0), mark(100, 1)), line(dot(20), dot(95), dot(120, 90), **POOL))
    assert groups_of("dot.1", threads) == [0, -1, 1]


def test_all_that_a_pool_does_counts_and_nothing_of_other_threads():
    works = event("ThreadpoolListener::Region", 30, 20)
    assert groups_of(works.name, host(line(mark(0, 0)), line(works, **POOL))) == [0]
    other = {"id": 2, "name": "tf_data_iterator_resource/7"}
    assert groups_of(works.name, host(line(mark(0, 0)), line(works, **other))) == [-1]


def test_what_was_launched_by_a_step_stays_there():
    gives = event("Give", 10, 1, _pt=1, _p=3)
    late = event("dot.1", 120, 5, hlo_op="dot.1", _ct=1, _c=3)
    threads = host(line(mark(0, 0), gives, mark(100, 1)), line(late, **POOL))
    assert groups_of("dot.1", threads) == [0]


def test_steps_that_overlap_tell_nothing_by_time():
    threads = host(line(mark(0, 0)), line(mark(50, 1), id=3), line(dot(60), **POOL))
    assert groups_of("dot.1", threads) == [-1]
