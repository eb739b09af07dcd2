"""What a notebook shows of a result: its page."""

from __future__ import annotations


class ShownInNotebooks:
    """A result that notebooks show as the page that ``tfprof report`` would write of it.

    The one step up in the house: a result knows that there are pages, and nothing more about them.
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        from tfprof.web.notebook import html_of

        return html_of(self)
