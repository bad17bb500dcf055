"""The supported backends: what each can serve as, and which setting of its own names it.

A new backend needs its row here, its class, and its line in `drumbeat.backend_factory`.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from drumbeat.config.mask import masked
from drumbeat.model.part import Part

NONE = "none"
"""The address for no coordinator."""


@dataclass(frozen=True, slots=True)
class Backend:
    """One kind of backend."""

    title: str
    schemes: tuple[str, ...]
    serves: tuple[Part, ...]
    example: str
    later: tuple[Part, ...] = ()
    """The parts that are planned for a later version."""
    setting: str | None = None
    """Its own setting, for fleets that are configured by the environment."""
    stands_for: Part | None = None
    """The part that this setting names."""
    over_http: bool = False
    """Whether the setting may hold HTTP URLs, as in other tools; the second scheme is with TLS."""

    def gives(self, part: Part) -> bool:
        """Whether this version supports the backend as that part."""
        return part in self.serves and part not in self.later


BACKENDS = (
    Backend("memory", ("memory",), tuple(Part), "memory://"),
    Backend("SQLite", ("sqlite",), (Part.STORE, Part.COORDINATOR), "sqlite:///drumbeat.db"),
    Backend(
        "PostgreSQL",
        ("postgresql", "postgres"),
        (Part.STORE, Part.COORDINATOR),
        "postgresql://host/database",
        setting="postgres_dsn",
        stands_for=Part.STORE,
    ),
    Backend(
        "MongoDB",
        ("mongodb", "mongodb+srv"),
        (Part.STORE, Part.COORDINATOR),
        "mongodb://host/database",
        setting="mongodb_uri",
        stands_for=Part.STORE,
    ),
    Backend(
        "Redis",
        ("redis", "rediss", "redis+sentinel", "rediss+sentinel", "unix"),
        tuple(Part),
        "redis://host:6379",
        later=(Part.STORE,),
        setting="redis_url",
        stands_for=Part.QUEUE,
    ),
    Backend(
        "etcd",
        ("etcd", "etcds"),
        (Part.COORDINATOR,),
        "etcd://host:2379",
        setting="etcd_endpoints",
        stands_for=Part.COORDINATOR,
        over_http=True,
    ),
    Backend(
        "Consul",
        ("consul", "consuls"),
        (Part.COORDINATOR,),
        "consul://host:8500",
        setting="consul_http_addr",
        stands_for=Part.COORDINATOR,
        over_http=True,
    ),
)


def examples(part: Part) -> str:
    """Example addresses that this version accepts for a part."""
    built = [each.example for each in BACKENDS if each.gives(part)]
    return ", ".join([*built, NONE] if part is Part.COORDINATOR else built)


def fault_of(part: Part, address: str) -> str | None:
    """What is wrong with the address of a part; None if this version accepts it."""
    if part is Part.COORDINATOR and address == NONE:
        return None
    scheme = urlsplit(address).scheme
    if not scheme or ":" not in address:
        return f"{part} must be an address such as 'memory://', not {masked(address)!r}"
    backend = next((each for each in BACKENDS if scheme in each.schemes), None)
    if backend is not None and part in backend.serves and not backend.gives(part):
        return (
            f"no {part} is known for {scheme}://, since {backend.title} comes with a later "
            f"version; this one has {examples(part)}"
        )
    if backend is None or part not in backend.serves:
        return f"no {part} is known for {scheme}://; this version has {examples(part)}"
    return None
