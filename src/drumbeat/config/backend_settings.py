"""Backend settings: parts that are named by a backend's own setting, such as `ETCD_ENDPOINTS`.

The setting of a part (`store`, `coordinator`, `queue`) takes precedence, since other software uses
the backends' variables too. Nothing that is given is ignored silently: it is used, refused, or
noted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from drumbeat.config.backends import BACKENDS, Backend
from drumbeat.config.mask import masked
from drumbeat.config.origin import Level, SettingOrigin
from drumbeat.config.setting import PREFIX
from drumbeat.model.part import Part

_STRENGTH = {level: strength for strength, level in enumerate(Level)}


@dataclass(frozen=True, slots=True)
class Named:
    """The address of a part, or None for none, and where it came from."""

    address: str | None
    origin: SettingOrigin


@dataclass(slots=True)
class Description:
    """What the backends' own settings say."""

    named: dict[Part, Named] = field(default_factory=dict[Part, Named])
    faults: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class _Given:
    """A backend whose own setting is given."""

    backend: Backend
    value: str
    origin: SettingOrigin

    @property
    def name(self) -> str:
        """The variable or setting that named it."""
        return self.origin.name or str(self.backend.setting)


def describe(values: Mapping[str, object], origins: Mapping[str, SettingOrigin]) -> Description:
    """Choose a backend for each part that only the backends' own settings name."""
    found = Description()
    given = [
        _Given(backend, str(values[backend.setting]), origins[backend.setting])
        for backend in BACKENDS
        if backend.setting and values.get(backend.setting)
    ]
    in_memory = str(values.get(Part.STORE) or "").startswith("memory:")
    for part in Part:
        asked = [each for each in given if _stands_for(each, in_memory=in_memory) is part]
        if not asked:
            continue
        if values.get(part) is not None:
            found.notes += [_not_used(each, part, origins[part]) for each in asked]
            continue
        _choose(found, part, asked)
    return found


def _stands_for(each: _Given, *, in_memory: bool) -> Part | None:
    stands_for = each.backend.stands_for
    # Nobody can share a queue of jobs that are in the memory of one process.
    return Part.COORDINATOR if in_memory and stands_for is Part.QUEUE else stands_for


def _choose(found: Description, part: Part, asked: list[_Given]) -> None:
    strongest = max(_STRENGTH[each.origin.level] for each in asked)
    chosen, *others = [each for each in asked if _STRENGTH[each.origin.level] == strongest]
    if others:
        names = " and ".join(each.name for each in (chosen, *others))
        found.faults.append(
            f"{names} each name a {part} (given by {chosen.origin.level}); remove all but one, or "
            f"name it by {PREFIX}{part.upper()}"
        )
        return
    found.notes += [_not_used(each, part, chosen.origin) for each in asked if each is not chosen]
    address, fault = _address(chosen)
    if fault is not None:
        found.faults.append(f"{fault} (given by {chosen.origin})")
        return
    found.named[part] = Named(address, chosen.origin)


def _not_used(each: _Given, part: Part, origin: SettingOrigin) -> str:
    return f"{each.name} is not used, since {origin} names the {part}"


def _address(given: _Given) -> tuple[str, str | None]:
    """The address that a backend's own setting means, and what is wrong with it.

    `localhost:6379` gets its scheme. HTTP URLs are accepted as by etcd's and Consul's tools.
    """
    backend, value = given.backend, given.value.strip()
    if backend.over_http and "http" in value:
        protocols = set(re.findall(r"\b(https?)://", value))
        if len(protocols) > 1:
            return "", (
                f"{given.name} mixes http:// and https://, but all members are reached alike; "
                f"write one of them"
            )
        if protocols:
            scheme = backend.schemes["https" in protocols]
            hosts = (re.sub(r"^https?://", "", each.strip()) for each in value.split(","))
            return f"{scheme}://{','.join(host.removesuffix('/') for host in hosts)}", None
    if "://" not in value:
        return f"{backend.schemes[0]}://{value}", None
    if urlsplit(value).scheme not in backend.schemes:
        return "", (
            f"{given.name} must be an address of {backend.title} such as {backend.example}, "
            f"not {masked(value)}"
        )
    return value, None
