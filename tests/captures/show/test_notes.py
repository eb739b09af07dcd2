"""Notes of many hosts are told once."""

from tfprof.captures.run.result import Note, told_once


def test_the_same_note_of_many_hosts_is_told_once():
    of_all = [Note("info", "cut", f"host{number}") for number in range(6)]
    other = [Note("warning", "cut", "host0"), Note("info", "x"), Note("info", "late", "host1")]
    assert told_once([*of_all, *other]) == [
        Note("info", "cut", "host0, host1, host2 and 3 more"),
        *other,
    ]
    assert told_once(of_all[:3]) == of_all[:3]
