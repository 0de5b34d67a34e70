#!/usr/bin/env python3
"""Makes sure that a user has an SSH key pair and that it lets them in where their home is.

Usage: user_keys.py HOME COMMENT NODE, as that user

Several nodes may do so at once in the same home: the first key wins. Needs nothing but the standard library
of the node's own Python, and ssh-keygen.
"""

import contextlib
import os
import subprocess
import sys

_NEW = ".hyperpod-new."


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
        check=True,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
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
    with contextlib.suppress(FileNotFoundError), open(path, encoding="utf-8") as file:
        return file.read()
    return ""


def _write(path: str, content: str, node: str) -> None:
    new = f"{path}{_NEW}{node}"
    with open(new, "w", encoding="utf-8") as file:
        file.write(content)
    os.replace(new, path)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
