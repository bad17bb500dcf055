"""The command line: `python -m servers install`, `status` and `run`."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from servers import (
    Consul,
    Etcd,
    Missing,
    Mongo,
    Postgres,
    Redis,
    Sentinel,
    Server,
    ServerFailed,
    Valkey,
)
from servers.cluster import Cluster
from servers.debian import NotInstalled, install, unpack
from servers.java import build
from servers.packages import PACKAGES, JavaPackage, Package

STARTABLE: Mapping[str, Callable[[], Server | Cluster[Any]]] = {
    "postgres": Postgres.start,
    "redis": Redis.start,
    "sentinel": Sentinel.start,
    "valkey": Valkey.start,
    "etcd": Etcd.start,
    "consul": Consul.start,
    "mongo": Mongo.start,
}
"""The servers that `run` can start by name."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m servers", description="Servers for tests.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    adding = commands.add_parser("install", help="install what is missing")
    adding.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PACKAGES))
    adding.set_defaults(do=_install_missing)
    showing = commands.add_parser("status", help="list the servers and their programs")
    showing.set_defaults(do=_show_status)
    running = commands.add_parser("run", help="run a server until Ctrl-C")
    running.add_argument("name", metavar="NAME", choices=list(STARTABLE))
    running.set_defaults(do=_run)
    asked = parser.parse_args(arguments)
    do: Callable[[argparse.Namespace], int] = asked.do
    return do(asked)


def _install_missing(asked: argparse.Namespace) -> int:
    """Install missing packages. 1 if a named package, or one that CI needs, cannot be installed."""
    names: Sequence[str] = asked.names
    if unknown := [name for name in names if name not in PACKAGES]:
        print(f"Unknown: {', '.join(unknown)}. There are: {', '.join(PACKAGES)}.", file=sys.stderr)
        return 2
    wanted = [PACKAGES[name] for name in names] or list(PACKAGES.values())
    failed = 0
    for package in wanted:
        if package.find() is not None:
            continue
        print(f"{package.server}: installing ...", flush=True)
        try:
            _install(package)
        except NotInstalled as error:
            print(f"NOT INSTALLED: {package.server}: {error}", file=sys.stderr)
            failed += bool(package.needed or names)
    return 1 if failed else 0


def _install(package: Package) -> None:
    if isinstance(package, JavaPackage):
        build(package)
    elif package.suite is None:
        install(package.debian)
    else:
        unpack(package.debian, package.suite, package.folder)
    if package.find() is None:
        packages = " ".join(package.debian)
        raise NotInstalled(f"{packages} is installed, but brought no {package.program}.")


def _show_status(_: argparse.Namespace) -> int:
    """Print a table of all servers."""
    for package in PACKAGES.values():
        program = package.find()
        needed = "needed" if package.needed else "optional"
        print(f"{package.name:10} {package.server:14} {needed:9} {program or 'MISSING'}")
    return 0


def _run(asked: argparse.Namespace) -> int:
    """Start a server, print its address, and stop it on SIGTERM or Ctrl-C."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with STARTABLE[asked.name]() as server:
            print(server.address, flush=True)
            print("Ctrl-C ends it.", file=sys.stderr)
            signal.pause()
    except KeyboardInterrupt:
        return 0
    except (Missing, ServerFailed) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
