"""Program that starts torchruns in processes which have PyTorch imported, so that a start costs little.

It imports what the worker imports, and forks for each line that it reads. The child leads a session of its
own and calls ``torch.distributed.run.main``, which is all that the program ``torchrun`` does. Started with
``--run-path`` and ``--start-method=fork``, torchrun forks its ranks likewise.

Reads lines of JSON with ``number``, ``arguments``, ``log`` and ``folder``. Writes one with ``number`` and
``pid`` for each start, and one with ``number`` and ``code`` for each end. Ends when there is no more to read.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import selectors
import sys
import traceback
from typing import Any, NoReturn

# The first optimizer of a process would import it.
import torch._dynamo
import torch.distributed.run


def main(worker: str) -> None:
    runpy.run_path(worker, run_name="imports_of_worker")
    threads = os.listdir("/proc/self/task")
    assert len(threads) == 1, f"a child would lack these threads: {threads}"
    gc.freeze()
    waiting = selectors.DefaultSelector()
    waiting.register(sys.stdin.fileno(), selectors.EVENT_READ)
    read = b""
    while True:
        for key, _ in waiting.select():
            if key.data is not None:
                number, pid = key.data
                waiting.unregister(key.fd)
                os.close(key.fd)
                _say(number=number, code=os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
                continue
            more = os.read(key.fd, 65536)
            if not more:
                return
            *lines, read = (read + more).split(b"\n")
            for line in lines:
                wanted = json.loads(line)
                pid = os.fork()
                if pid == 0:
                    waiting.close()
                    _run(wanted)
                _say(number=wanted["number"], pid=pid)
                waiting.register(os.pidfd_open(pid), selectors.EVENT_READ, (wanted["number"], pid))


def _say(**said: Any) -> None:
    os.write(1, json.dumps(said).encode() + b"\n")


def _run(wanted: dict[str, Any]) -> NoReturn:
    code = 1
    try:
        os.setsid()
        os.chdir(wanted["folder"])
        nothing = os.open(os.devnull, os.O_RDONLY)
        log = os.open(wanted["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        for source, target in ((nothing, 0), (log, 1), (log, 2)):
            os.dup2(source, target)
        torch.distributed.run.main(wanted["arguments"])
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main(sys.argv[1])
