"""Masking: what of an address may be shown."""

from __future__ import annotations

import re

MASK = "***"
_WORD = re.compile(r"\S+?(?:,(?=[\w+.-]+://)|(?=\s|$))")
_PASSWORD = re.compile(r"(?P<user>(?:[\w+.-]+://)?[^:@/]*):.*(?=@)")
_BARE_USER = re.compile(r"(?P<scheme>[\w+.-]+://)[^:@/]+(?=@)")
_MARKED = re.compile(
    r"(?P<name>[\w-]*(?:password|passwd|secret|token|api_?key)[\w-]*\s*=\s*)('[^']*'|[^\s&;,]*)",
    re.IGNORECASE,
)


def masked(text: str) -> str:
    """The text without its secrets: passwords in addresses, and values named like a secret.

    ```python
    masked("postgresql://anna:hunter2@db/app")  # postgresql://anna:***@db/app
    masked("consul://hunter2@db")               # consul://***@db: it may be a token
    masked("host=db password=hunter2")          # host=db password=***
    ```
    It rather hides too much than too little: all up to the last `@` is taken for the password.
    """
    hidden = _WORD.sub(lambda word: _hide_user(word[0]), text)
    return _MARKED.sub(rf"\g<name>{MASK}", hidden)


def _hide_user(word: str) -> str:
    if _BARE_USER.match(word):
        return _BARE_USER.sub(rf"\g<scheme>{MASK}", word, count=1)
    return _PASSWORD.sub(rf"\g<user>:{MASK}", word, count=1)
