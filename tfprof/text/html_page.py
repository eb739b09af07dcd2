"""What all pages have in common: one file that asks for nothing, and runs nothing.

There is no script. The page says so itself, in a content policy that also forbids every request:
a name from a profile could do nothing even if it were taken for markup.
"""

from __future__ import annotations

from datetime import datetime
from functools import cache

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from tfprof.text.tables import escaped

STYLE = """\
:root{color-scheme:light dark;--line:rgba(128,128,128,.3);--soft:rgba(128,128,128,.1)}
body{font:15px/1.45 system-ui,sans-serif;margin:1.5em auto;padding:0 1.5em;max-width:110em;\
background:Canvas;color:CanvasText}
h1{font-size:1.5em;margin:0}
h2{font-size:1.1em;margin:1.5em 0 .4em}
.quiet{opacity:.75}
code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.92em}
"""
"""Plain colours of the reader's own system, light or dark."""

_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>{{ title }}</title>
<style>
{{ style }}</style>
</head>
<body>
{{ body }}</body>
</html>
"""


def html_page(title: str, style: str, body: Markup) -> str:
    """A page of its own.

    Args:
        title: Title, as text.
        style: CSS after the common one; our own words only.
        body: What the page shows.
    """
    return template(_PAGE).render(title=title, style=Markup(STYLE + style), body=body)


def origin_text(source: str, recorded: datetime | None = None) -> str:
    """What a page is about: ``From graph.pb, run_meta.pb, recorded 2026-01-31 12:00 UTC.``.

    Args:
        source: What was read; empty if nobody says.
        recorded: When it ran.
    """
    parts = [f"from {escaped(source)}"] if source else []
    parts += [f"recorded {recorded:%Y-%m-%d %H:%M} UTC"] if recorded else []
    text = ", ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text else ""


@cache
def template(source: str) -> Template:
    """A template in which every value is escaped, unless it is Markup."""
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.from_string(source)
