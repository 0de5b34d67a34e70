"""The end of a training process."""

from __future__ import annotations

import os
import sys
from typing import NoReturn


def leave(code: int) -> NoReturn:
    """End the process without taking Python down first, when all work is done.

    Threads of gloo that PyTorch's ``DistributedDataParallel`` uses outlive ``destroy_process_group``. One
    that lets go of a tensor while Python goes down aborts the process, with all its work done
    (pytorch/pytorch#179291), and torchrun waits five minutes for it on every other node.

    Args:
        code: Exit code.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
