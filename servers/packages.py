"""The servers that can be installed, and their Debian packages."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

TOOLS = Path(__file__).parents[1] / ".tools"
"""Where packages of other suites are unpacked, because they conflict with those of the system."""


class Missing(Exception):
    """A server is not installed; the message names the command that installs it."""

    def __init__(self, server: str, remedy: str, *, needed: bool = True) -> None:
        super().__init__(f"{server} is missing: run `{remedy}`.")
        self.server = server
        self.remedy = remedy
        self.needed = needed
        """Whether tests in CI fail without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A server that can be installed by its name."""

    name: str
    server: str
    """The server, as shown to people."""
    program: str
    """A program of it, as an absolute path or a name."""
    debian: tuple[str, ...]
    """Its Debian packages."""
    suite: str | None = None
    """The other Debian suite of the packages, if the system's suite does not have them."""
    needed: bool = True
    """Whether CI requires it."""

    @property
    def folder(self) -> Path:
        """Where it is unpacked, if it is of another suite."""
        return TOOLS / self.name

    def find(self) -> Path | None:
        """Its program, if it is installed."""
        if self.suite is not None:
            program = self.folder / "usr" / "bin" / self.program
            return program if program.exists() else None
        found = shutil.which(self.program, path=_search_path())
        return None if found is None else Path(found)

    def require(self) -> Path:
        """Its program; `Missing` if it is not installed."""
        if (program := self.find()) is None:
            raise self.missing()
        return program

    def missing(self) -> Missing:
        """The error to raise if it is not installed."""
        remedy = f"python -m servers install {self.name}"
        return Missing(self.server, remedy, needed=self.needed)


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaPackage(Package):
    """A server that is compiled from our source with libraries that Maven fetches."""

    source: Path
    """The folder with its Java classes and its `pom.xml`."""

    @property
    def folder(self) -> Path:
        """Where it is compiled. A changed source has another folder, so it is compiled again."""
        digest = sha256()
        for file in sorted(self.source.iterdir()):
            digest.update(file.read_bytes())
        return TOOLS / self.name / digest.hexdigest()[:12]

    @property
    def classes(self) -> str:
        """The class path of Java."""
        return f"{self.folder / 'classes'}:{self.folder / 'libraries'}/*"

    def find(self) -> Path | None:
        """Java, if it is installed and the server is compiled."""
        return super(JavaPackage, self).find() if self.folder.exists() else None


def _search_path() -> str:
    # Debian puts daemons in `/usr/sbin`, which is not on every PATH.
    return f"{os.environ.get('PATH', '')}:/usr/local/sbin:/usr/sbin:/usr/bin"


POSTGRES = Package(
    name="postgres",
    server="PostgreSQL 15",
    program="/usr/lib/postgresql/15/bin/postgres",
    debian=("postgresql-15",),
)
PGBOUNCER = Package(
    name="pgbouncer", server="PgBouncer", program="pgbouncer", debian=("pgbouncer",)
)
REDIS = Package(
    name="redis", server="Redis", program="redis-server", debian=("redis-server", "redis-tools")
)
VALKEY = Package(
    name="valkey",
    server="Valkey",
    program="valkey-server",
    debian=("valkey-server", "valkey-tools"),
    suite="bookworm-backports",
    needed=False,
)
ETCD_3_5 = Package(
    name="etcd-3.5", server="etcd 3.5", program="etcd", debian=("etcd-server",), suite="trixie"
)
ETCD_3_4 = Package(
    name="etcd-3.4", server="etcd 3.4", program="etcd", debian=("etcd-server",), needed=False
)
CONSUL = Package(
    name="consul",
    server="Consul",
    program="consul",
    debian=("consul",),
    suite="bullseye",
    needed=False,
)
MONGO = JavaPackage(
    name="mongo",
    server="mongo-java-server",
    program="java",
    debian=("default-jdk-headless", "maven"),
    source=Path(__file__).parent / "mongo_server",
)
FAKETIME = Package(
    name="faketime", server="faketime", program="faketime", debian=("faketime",), needed=False
)
CHROMIUM = Package(
    name="chromium",
    server="Chromium",
    program="chromium",
    debian=("chromium", "fonts-inter", "fonts-jetbrains-mono", "fonts-dejavu-core"),
)

PACKAGES = {
    package.name: package
    for package in (
        POSTGRES,
        PGBOUNCER,
        REDIS,
        VALKEY,
        ETCD_3_5,
        ETCD_3_4,
        CONSUL,
        MONGO,
        FAKETIME,
        CHROMIUM,
    )
}
"""All packages by name."""
