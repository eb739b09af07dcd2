"""The difference of two runs, in sentences and by op, above the first page of both."""

from __future__ import annotations

from collections.abc import Iterator

from tfprof.errors import TfprofError
from tfprof.inputs.opened import Opened
from tfprof.insight.diff.side import Side
from tfprof.ui.pages.blocks_of_results import notes_block, table_block
from tfprof.ui.pages.document import Block, remarks, words


def verdict_blocks(first: Opened, second: Opened) -> Iterator[Block]:
    """The answer of ``tfprof diff``, or the reason for none.

    Args:
        first: The run before.
        second: The run after.
    """
    from tfprof.insight.diff.answer import answer_of
    from tfprof.insight.diff.difference import difference

    try:
        answer = answer_of(difference(side_of_opened(first), side_of_opened(second)))
    except TfprofError as error:
        yield remarks([("warning", f"The two cannot be compared as a whole: {error}", "")])
        return
    yield words(answer.verdict, lead=True)
    yield from notes_block(answer.notes)
    for table in answer.tables.values():
        yield table_block(table)


def side_of_opened(opened: Opened) -> Side:
    """An opened run, for comparison.

    Raises:
        EmptyProfileError: It is a trace, or holds results only.
    """
    run = None if opened.run is None else opened.run()
    return Side(opened.name, opened.views(), run)
