from tfprof.core.columns.remarks import Notice, Notices


def test_repeated_notices_add_up_and_keep_the_first_text():
    notices = Notices()
    notices.add("a", "first", 2)
    notices.add("b", "other")
    notices.add("a", "second", 3)
    assert notices.as_tuple() == (Notice("a", "first", 5), Notice("b", "other", 1))


def test_nothing_is_recorded_zero_times():
    notices = Notices()
    notices.add("a", "text", 0)
    notices.set("b", "text", 0)
    assert notices.as_tuple() == ()


def test_a_state_replaces_the_one_before():
    notices = Notices()
    notices.set("a", "first", 2)
    notices.set("a", "second", 7)
    assert notices.as_tuple() == (Notice("a", "second", 7),)
