"""The readers of the wire: each engine alone, and all of them, which must agree."""

from __future__ import annotations

from fuzz.case import Question
from fuzz.formats.wire import plan_of
from fuzz.questions.read_captures import PURE
from tests.core.wire.engines import by_messages, by_native, by_pure
from tfprof.core.wire.compiled import native
from tfprof.core.wire.text_index import TextIndex
from tfprof.core.wire.walk import walk

WIRE = frozenset({"wire"})


def _scan(data: bytes) -> None:
    if data and native is not None:
        plan_of(data[0]).native.scan(data[1:])


def _walk(data: bytes) -> None:
    for _ in walk(data):
        pass


def _all_engines(data: bytes) -> None:
    if not data:
        return
    plan, data = plan_of(data[0]), data[1:]
    expected = by_messages(plan, data)
    assert by_pure(plan, data) == expected, "NumPy reads something else than protobuf"
    assert by_native(plan, data) in (expected, None), "the compiled scanner reads something else"


def _texts(data: bytes) -> None:
    """Texts of one index, found again by another engine's."""
    texts = list(dict.fromkeys(data.decode("utf-8", "surrogateescape").split("\n")))
    texts = [text for text in texts if text.isprintable()]
    index = TextIndex()
    index.extend(texts)
    with PURE:
        pure = TextIndex()
    pure.extend(texts)
    assert [index[n] for n in range(len(index))] == [pure[n] for n in range(len(pure))]


QUESTIONS = (
    Question("scan natively", WIRE, _scan, "wire", of_bytes=True),
    Question("walk the wire", WIRE, _walk, "wire", of_bytes=True),
    Question("index of texts", WIRE, _texts, "wire", of_bytes=True),
    Question("scan by all engines", WIRE, _all_engines, "engines", of_bytes=True),
)
