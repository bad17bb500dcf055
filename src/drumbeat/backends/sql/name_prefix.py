"""Name prefixes: all names with a prefix, as a range that an index can search."""

from __future__ import annotations

LAST_CHARACTER = 0x10FFFF
SURROGATES = range(0xD800, 0xE000)


def prefix_end(prefix: str) -> str | None:
    """The first text after all that have the prefix; None: there is none.

    The database must order texts by their bytes: UTF-8 then has the order of the code points.
    """
    while prefix:
        following = ord(prefix[-1]) + 1
        if following <= LAST_CHARACTER:
            # UTF-8 cannot encode surrogates.
            return prefix[:-1] + chr(SURROGATES.stop if following in SURROGATES else following)
        prefix = prefix[:-1]
    return None
