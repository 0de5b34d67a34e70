#!/usr/bin/env python3
"""Makes sure that a user has an SSH key pair and that it lets them in where their home is.

Usage: user_keys.py HOME COMMENT NODE, as that user

Several nodes may do so at once in the same home: the first key wins. Needs nothing but the standard library
of the node's own Python, and ssh-keygen.
"""

import contextlib
import os
import stat
import subprocess
import sys

_NEW = ".hyperpod-new."
_MOST_BYTES = 1 << 20


def main(home: str, comment: str, node: str) -> int:
    """Make what is missing."""
    os.umask(0o077)
    folder = os.path.join(home, ".ssh")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    private = os.path.join(folder, "id_ed25519")
    if not os.path.exists(private):
        _make_key(private, comment, f"{private}{_NEW}{node}")
    for left in (f"{private}{_NEW}{node}", f"{private}{_NEW}{node}.pub"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(left)
    derived = subprocess.run(
        ["ssh-keygen", "-y", "-f", private],
        check=False,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    if derived.returncode != 0:
        sys.exit(f"{private} does not open without a passphrase: {derived.stderr.strip()[-200:]}")
    kind, key = derived.stdout.split()[:2]
    public = f"{kind} {key} {comment}\n"
    if not os.path.exists(f"{private}.pub"):
        _write(f"{private}.pub", public, node)
    authorized = os.path.join(folder, "authorized_keys")
    present = _read(authorized)
    if not any([kind, key] == line.split()[:2] for line in present.splitlines()):
        if present and not present.endswith("\n"):
            present += "\n"
        _write(authorized, present + public, node)
    return 0


def _make_key(private: str, comment: str, new: str) -> None:
    for left in (new, f"{new}.pub"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(left)
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", new],
        check=True,
        stdin=subprocess.DEVNULL,
    )
    with contextlib.suppress(FileExistsError):
        os.link(new, private)


def _read(path: str) -> str:
    try:
        # Without waiting: it may be a pipe that nobody writes.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        return ""
    with os.fdopen(descriptor, encoding="utf-8", errors="surrogateescape") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES:
            sys.exit(f"{path} is no file, or one of more than {_MOST_BYTES} bytes")
        return file.read(_MOST_BYTES)


def _write(path: str, content: str, node: str) -> None:
    new = f"{path}{_NEW}{node}"
    with open(new, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(content)
    os.replace(new, path)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
