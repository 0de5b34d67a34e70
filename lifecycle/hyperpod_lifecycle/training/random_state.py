"""The random number generators of a process: Python's, NumPy's and PyTorch's where they are loaded."""

from __future__ import annotations

import random
import sys
from typing import Any


def random_state() -> dict[str, Any]:
    """Return the state of every generator of this process, as plain values.

    NumPy's and PyTorch's are among them if the process has imported them; PyTorch's on GPUs if it uses CUDA:
    that of the current device, which is this rank's. Generators that the job makes itself are not seen.
    """
    state: dict[str, Any] = {"python": random.getstate()}
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        name, keys, position, has_gauss, gauss = numpy.random.get_state(legacy=True)
        state["numpy"] = (name, keys.astype("<u4").tobytes(), position, has_gauss, gauss)
    torch = sys.modules.get("torch")
    if torch is not None:
        state["torch"] = _bytes_of(torch.get_rng_state())
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            state["torch_cuda"] = _bytes_of(torch.cuda.get_rng_state())
    return state


def restore_random_state(state: dict[str, Any]) -> tuple[str, ...]:
    """Put every generator that was saved back where it was.

    Args:
        state: What :func:`random_state` returned.

    Returns:
        Names of generators that were saved and do not exist here: ``torch_cuda`` without a GPU, or ``numpy``
        where NumPy is not imported.
    """
    missing = []
    random.setstate(state["python"])
    if "numpy" in state:
        numpy = sys.modules.get("numpy")
        if numpy is None:
            missing.append("numpy")
        else:
            name, keys, position, has_gauss, gauss = state["numpy"]
            numpy.random.set_state((name, numpy.frombuffer(keys, dtype="<u4"), position, has_gauss, gauss))
    if "torch" in state:
        import torch

        torch.set_rng_state(_tensor_of(torch, state["torch"]))
        if "torch_cuda" in state:
            if torch.cuda.is_available():
                torch.cuda.set_rng_state(_tensor_of(torch, state["torch_cuda"]))
            else:
                missing.append("torch_cuda")
    return tuple(missing)


def _bytes_of(tensor: Any) -> bytes:
    # By way of a list: PyTorch's bridge to bytes is NumPy, which need not be installed.
    return bytes(tensor.tolist())


def _tensor_of(torch: Any, content: bytes) -> Any:
    return torch.tensor(list(content), dtype=torch.uint8)
