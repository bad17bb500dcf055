"""Masking: removes the secrets from a text before it is shown.

The texts are untrusted: error messages, argument names, addresses. So masking is linear in the
length of the text. Each step looks at a piece of the text that no later step looks at again; no
regular expression here can match a text in two ways (tests/project/test_regexes.py).
"""

from __future__ import annotations

import re

MASK = "***"
_WORD = re.compile(r"\S+")
_NEXT_ADDRESS = re.compile(r",(?=[\w+.-]+://)")
_SCHEME = re.compile(r"[\w+.-]+")
_SPECIAL = re.compile(r"[:@/]")
_BARE_USER = re.compile(r"(?P<scheme>[\w+.-]+://)[^:@/]+(?=@)")
_NAME = re.compile(r"(?P<name>[\w-]+)(?P<equals>\s*=\s*)?")
_SECRET = re.compile(r"password|passwd|secret|token|api_?key", re.IGNORECASE)
_VALUE = re.compile(r"'[^']*'|[^\s&;,]*")


def masked(text: str) -> str:
    """The text without its secrets: passwords in addresses, and values named like a secret.

    ```python
    masked("postgresql://anna:hunter2@db/app")  # postgresql://anna:***@db/app
    masked("consul://hunter2@db")               # consul://***@db: it may be a token
    masked("host=db password=hunter2")          # host=db password=***
    ```
    It rather hides too much than too little: all up to the last `@` is taken for the password.
    """
    return _hide_values(_WORD.sub(lambda word: _hide_users(word[0]), text))


def _hide_users(word: str) -> str:
    """The word without the passwords of the addresses in it, which commas may separate."""
    if "@" not in word:
        return word
    shown: list[str] = []
    start = 0
    for comma in _NEXT_ADDRESS.finditer(word):
        if comma.start() > start:
            shown.append(_hide_user(word[start : comma.end()]))
            start = comma.end()
    shown.append(_hide_user(word[start:]))
    return "".join(shown)


def _hide_user(address: str) -> str:
    bare = _BARE_USER.match(address)
    if bare is not None:
        return f"{bare['scheme']}{MASK}{address[bare.end() :]}"
    last = address.rfind("@")
    colon = _before_password(address, last)
    return address if colon < 0 else f"{address[:colon]}:{MASK}{address[last:]}"


def _before_password(address: str, last: int) -> int:
    """Index of the colon before the password, left of the last `@`; -1: there is none."""
    colon = address.find(":", 0, max(last, 0))
    if colon < 0 or not address.startswith("://", colon):
        return colon
    start = max(address.rfind("/", 0, colon), address.rfind("@", 0, colon)) + 1
    if _SCHEME.fullmatch(address, start, colon) is None:
        return colon
    after_user = _SPECIAL.search(address, colon + len("://"), last)
    if after_user is not None and after_user[0] == ":":
        return after_user.start()
    return colon


def _hide_values(text: str) -> str:
    """The text without the values after `name=` where the name looks like a secret's."""
    shown: list[str] = []
    kept_from = position = 0
    while (found := _NAME.search(text, position)) is not None:
        position = found.end()
        if found["equals"] is None or _SECRET.search(found["name"]) is None:
            continue
        value = _VALUE.match(text, position)
        shown += (text[kept_from:position], MASK)
        kept_from = position = value.end() if value is not None else position
    return "".join((*shown, text[kept_from:]))
