"""The comparison itself: what it forgives and what it reports."""

from __future__ import annotations

from tfprof.core.wire import messages as pb

from .compare import Outcome, canonical, difference, proto_difference, text_difference

_HEAD = "\n===Options===\n-max_depth 4\n\n===Report===\n"
_NOTICE = (
    "\n\nFound accelerator operation but misses accelerator stream stats!\n\nin other words\n\n"
)


def _report(notice: str, doc: str, tail: str) -> str:
    return f"{_HEAD}{notice}\nDoc:\n{doc}\n\nProfile:\n{tail}"


def test_explanations_may_differ_but_not_what_surrounds_them() -> None:
    ours = canonical(_report("", "scope: ours", "node name\na (1us)\n"))
    assert ours == canonical(_report("", "scope: theirs\nmicros: x", "node name\na (1us)\n"))
    assert ours == f"{_HEAD}<doc>\nProfile:\nnode name\na (1us)\n"
    assert ours != canonical(_report("", "scope: ours", "node name\na (2us)\n"))


def test_presence_of_the_stream_notice_is_compared_and_its_wording_is_not() -> None:
    with_notice = canonical(_report(_NOTICE, "x", "a\n"))
    assert with_notice == canonical(_report(_NOTICE.replace("in other", "in our\nown"), "x", "a\n"))
    assert with_notice != canonical(_report("", "x", "a\n"))


def test_text_without_a_profile_is_kept() -> None:
    assert canonical("root line\n") == "root line\n"


def test_first_different_field_is_named_with_its_path() -> None:
    ours, theirs = pb.GraphNodeProto(name="r"), pb.GraphNodeProto(name="r")
    ours.children.add(name="a", exec_micros=1)
    theirs.children.add(name="a", exec_micros=2)
    words = proto_difference(ours, theirs)
    assert words == "GraphNodeProto.children[0 'a'].exec_micros of 'a': 1, TF 2"


def test_missing_children_and_map_entries_are_reported() -> None:
    ours, theirs = pb.GraphNodeProto(), pb.GraphNodeProto()
    theirs.input_shapes[3].unknown_rank = True
    assert "input_shapes[3]: in ours False" in proto_difference(ours, theirs)
    theirs = pb.GraphNodeProto()
    theirs.children.add(name="b")
    assert proto_difference(ours, theirs) == "GraphNodeProto.children: ours [], TF ['b']"


def test_first_different_line_is_named() -> None:
    assert text_difference("stdout", "a\nb", "a\nc") == (
        "stdout, line 2:\n    ours 'b'\n    TF   'c'"
    )
    assert text_difference("stdout", "a", "a\nc") == "stdout: only TF has line 2: 'c'"


def test_refused_options_agree_only_when_both_refuse() -> None:
    empty = pb.GraphNodeProto()
    refused = Outcome(empty, refused=True)
    assert not difference(refused, refused)
    assert difference(refused, Outcome(empty))
    assert not difference(Outcome(empty), refused)
    assert difference(Outcome(pb.GraphNodeProto(name="x")), refused)
