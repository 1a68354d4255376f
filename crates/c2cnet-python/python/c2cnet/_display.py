"""Tables for notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


def table(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """Return an HTML table with a title and two columns."""
    body = "".join(
        '<tr><td style="text-align:left;padding-right:1.5em;vertical-align:top">'
        f'<b>{escape(name)}</b></td><td style="text-align:left">{escape(value)}</td></tr>'
        for name, value in rows
    )
    return f"<table><caption>{escape(title)}</caption><tbody>{body}</tbody></table>"
