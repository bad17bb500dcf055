"""Escapes control characters, so that a terminal shows them and does not execute them.

Names, reasons and errors are untrusted. An escape sequence in them could change the screen, the
window title or the clipboard, and a bidirectional control could make one name look like another.
"""

from __future__ import annotations

import re

_CONTROLS = re.compile(
    "["
    "\x00-\x08\x0b-\x1f"  # C0, without tab and newline
    "\x7f-\x9f"  # DEL and C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidirectional controls
    "\u2028\u2029"  # separators that end a line in some programs
    "\ud800-\udfff"  # halves of characters, which no terminal can be sent
    "]"
)
_BYTE = 0xFF


def visible(text: str) -> str:
    r"""The text with each control character written as `\x1b` or `\u202e`; tab and newline stay."""
    return _CONTROLS.sub(_written, text)


def visible_json(document: str) -> str:
    r"""JSON with each control character as the escape `\u009b`, which stands for the same text."""
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", document)


def _written(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code <= _BYTE else f"\\u{code:04x}"
