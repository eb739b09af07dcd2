"""The session's completions and history for prompt_toolkit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory

from tfprof.cli.output import harmless
from tfprof.cli.shell import completion


class LineCompleter(Completer):
    """Completes a line.

    Args:
        completer: Finds the completions.
    """

    def __init__(self, completer: completion.Completer) -> None:
        self._completer = completer

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterator[Completion]:
        """Completions at the cursor."""
        text = document.text_before_cursor
        for suggestion in self._completer.complete(text):
            yield Completion(
                suggestion.text,
                start_position=suggestion.start - len(text),
                display=harmless(suggestion.shown),
                display_meta=suggestion.about,
            )


def open_history(path: Path) -> FileHistory | None:
    """The history in a file that only the user may read; None if it cannot be written."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        with path.open("ab"):
            return FileHistory(str(path))
    except OSError:
        return None
