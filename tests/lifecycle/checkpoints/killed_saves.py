"""Saves step 2 over and over, each time killed one change of a file later; prints what it found as JSON.

Run on its own: it forks, which a process with threads must not.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from hyperpod_lifecycle.training.checkpoint_events import CheckpointEvent
from hyperpod_lifecycle.training.checkpoints import Checkpoints
from hyperpod_lifecycle.training.signing_keys import LocalKey

KEY = LocalKey(b"k" * 32)
CHANGES = {"open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.truncate", "fcntl.flock"}
MOST_KILLS = 400


def save(root: Path, step: int, events: list[CheckpointEvent]) -> None:
    checkpoints = Checkpoints(root, key=KEY, keep=1, run="run", on_event=events.append, threads=1)
    with checkpoints.begin(step) as writer:
        (writer.directory / "shards").mkdir()
        for name in ("shards/one.pt", "two.pt"):
            (writer.directory / name).write_bytes(b"%d" % step * 1000)
        writer.commit({"step": step})


def save_and_die(root: Path, kill_at: int) -> None:
    seen = 0

    def count(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal seen
        # Relative names are those of files opened within a folder that is open.
        path = str(arguments[0])
        if event in CHANGES and (str(root) in path or not path.startswith("/")):
            seen += 1
            if seen == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    save(root, 2, [])


def examine(root: Path) -> tuple[int, list[str]]:
    """The newest step after a kill, and what is wrong then or after the next save."""
    faults = []
    events: list[CheckpointEvent] = []
    reader = Checkpoints(root, key=KEY, keep=1, run="run", on_event=events.append)
    newest = reader.latest_complete()
    if newest is None:
        return 0, ["no checkpoint at all"]
    with reader.verified(newest) as verified:
        for name in ("shards/one.pt", "two.pt"):
            if verified.open(name).read() != b"%d" % newest.step * 1000:
                faults.append(f"{name} is not of step {newest.step}")
    faults += [f"refused: {event.message}" for event in events if event.kind == "refused"]
    save(root, 3, events)
    left = sorted(os.listdir(root))
    if left != ["step-000000000003"]:
        faults.append(f"the next save left {left}")
    return newest.step, faults


def main(folder: Path) -> None:
    faults: list[str] = []
    newest_after_kill: dict[int, int] = {}
    kill_at = 0
    while kill_at < MOST_KILLS:
        kill_at += 1
        root = folder / f"{kill_at:04d}"
        save(root, 1, [])
        child = os.fork()
        if child == 0:
            save_and_die(root, kill_at)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        newest, found = examine(root)
        faults += [f"killed at {kill_at}: {fault}" for fault in found]
        newest_after_kill[newest] = newest_after_kill.get(newest, 0) + 1
        if not os.WIFSIGNALED(status):
            break
    print(json.dumps({"kills": kill_at - 1, "faults": faults, "newest_after_kill": newest_after_kill}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
