"""`drumbeat dev` uses no servers: an app whose store is a server gets a SQLite file instead.

An app that names SQLite or memory keeps it. A store of `--store` is used in any case, with the
coordinator and the queue that the app names for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from drumbeat.config.backend_settings import Description, Named
from drumbeat.config.backends import NONE
from drumbeat.config.mask import masked
from drumbeat.config.origin import Level, SettingOrigin
from drumbeat.model.part import Part

IN_PLACE = frozenset({"memory", "sqlite"})
"""The schemes of what needs no server."""
ORIGIN = SettingOrigin(Level.COMMAND_LINE, "drumbeat dev")


def without_servers(
    values: Mapping[str, object], origins: Mapping[str, SettingOrigin], store: str
) -> Description:
    """What to use instead of servers, with a sentence for each part that is replaced."""
    found = Description()
    if origins[Part.STORE].level is Level.COMMAND_LINE:
        return found
    for part in Part:
        address, origin = values.get(part), origins[part]
        if origin.level is Level.COMMAND_LINE or not _is_server(address):
            continue
        found.named[part] = Named(store if part is Part.STORE else None, ORIGIN)
        instead = store if part is Part.STORE else "its store"
        found.notes.append(
            f"`drumbeat dev` uses {instead} as the {part}, and not {masked(str(address))} "
            f"(given by {origin}), unless --{part} names one"
        )
    return found


def _is_server(address: object) -> bool:
    """Whether it is the address of a server, and neither an object nor a file."""
    if not isinstance(address, str) or address == NONE or address.startswith("<"):
        return False
    return urlsplit(address).scheme not in IN_PLACE
