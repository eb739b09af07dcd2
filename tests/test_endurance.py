"""How long runs are judged, by samples that are written down."""

from fuzz.endurance.watched import Sample, verdict_on

MB = 2**20


def judged(descriptors=lambda at: 4, threads=lambda at: 2, memory=lambda at: 50 * MB):
    samples = [Sample(at, memory(at), descriptors(at), threads(at), 0) for at in range(1, 91)]
    return verdict_on(samples, keeps=False)


def test_what_comes_and_goes_is_flat():
    assert judged(threads=lambda at: 3 if at in (7, 61, 88) else 2).is_flat


def test_a_descriptor_that_stays_open_now_and_then_grows():
    assert judged(descriptors=lambda at: 4 + at // 30).grown == ("descriptors",)
    assert judged(descriptors=lambda at: 4 + at // 80).grown == ("descriptors",)


def test_memory_of_each_unit_that_is_kept_grows():
    assert not judged(memory=lambda at: 50 * MB + at * MB // 20).is_flat
    assert judged(memory=lambda at: 50 * MB + at * MB // 100).is_flat
