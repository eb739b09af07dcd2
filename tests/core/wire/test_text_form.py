"""The text form of messages, read with protobuf's own parser."""

from google.protobuf import text_format
from hypothesis import given
from hypothesis import strategies as st

from tfprof.core.wire import messages as pb
from tfprof.core.wire.text_form import message_of_text

VALUES = st.lists(st.sampled_from(["\\", "\\" * 70, "x41", "1", '"', "\n", "é", "a"]), max_size=8)


@given(VALUES)
def test_texts_with_backslashes_come_back(parts):
    message = pb.NodeDef(name="".join(parts))
    assert message_of_text(pb.NodeDef, text_format.MessageToString(message)) == message


def test_a_row_of_backslashes_needs_no_time_with_its_square():
    """protobuf alone takes more minutes than a test may."""
    text = 'name: "' + "\\\\" * 100_000 + '"'
    assert message_of_text(pb.NodeDef, text).name == "\\" * 100_000
