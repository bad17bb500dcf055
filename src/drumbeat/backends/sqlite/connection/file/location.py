"""Location: where a SQLite file may be.

SQLite's locks and shared memory work on one machine. On a network file system they seem to work,
until two machines write at once and the file is damaged, so a network file system is refused.
"""

from __future__ import annotations

import os
from pathlib import Path

from drumbeat.model.errors import ConfigurationError

MOUNTS = Path("/proc/self/mounts")
_REMOTE = """
9p afs acfs beegfs ceph cifs coda davfs fuse.cephfs fuse.davfs fuse.gcsfuse fuse.glusterfs
fuse.goofys fuse.juicefs fuse.rclone fuse.s3fs fuse.sshfs gfs gfs2 glusterfs gpfs lustre ncpfs
nfs nfs4 ocfs2 orangefs smb2 smb3 smbfs vboxsf
"""
REMOTE = frozenset(_REMOTE.split())
"""Kinds of file systems that several machines can write to at once."""


def check_place(path: Path) -> None:
    """Reject a path where the file cannot be created, or would not be safe, with a clear error."""
    folder = path.parent
    if not folder.is_dir():
        raise ConfigurationError(f"{folder} does not exist, so {path.name} cannot be created in it")
    if path.is_dir():
        raise ConfigurationError(f"{path} is a directory, not a SQLite file")
    kind = file_system(folder)
    if kind in REMOTE:
        raise ConfigurationError(
            f"{path} is on a network file system ({kind}), where SQLite cannot lock it safely; "
            f"put it on a local disk, or use a server such as PostgreSQL"
        )
    if path.exists() and not os.access(path, os.R_OK | os.W_OK):
        raise ConfigurationError(f"{path} cannot be written by this user")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ConfigurationError(
            f"{folder} cannot be written by this user, and SQLite keeps its log beside the file"
        )


def file_system(folder: Path) -> str | None:
    """The kind of file system that a folder is on; None if this machine does not say."""
    try:
        mounts = MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return None
    place = folder.resolve()
    best: tuple[int, str | None] = (-1, None)
    for line in mounts:
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        mounted = Path(_unescaped(fields[1]))
        # A later mount covers an earlier one at the same place, so equal depth replaces.
        if place.is_relative_to(mounted) and len(mounted.parts) >= best[0]:
            best = (len(mounted.parts), fields[2])
    return best[1]


def _unescaped(field: str) -> str:
    """A path as the kernel writes it: blanks and the like as three octal digits."""
    for code in ("040", "011", "012", "134"):
        field = field.replace(f"\\{code}", chr(int(code, 8)))
    return field
