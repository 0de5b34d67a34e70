"""Review of many templates in one process: how long each takes, a trust map too, and whether memory grows.

Run by `review.py`, in a process of its own; prints its figures as JSON.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from hyperpod_policy.assembly import read_stack
from hyperpod_policy.review_sources import review_sources
from hyperpod_policy.sources import load
from hyperpod_policy.trust_map import trust_map

MAPPED = 20
"""Templates of each kind that a trust map is drawn of."""

REGION = "us-west-2"
"""As the manifest of an assembly tells; without it the partition is open, and all is judged twice."""

STEP = 50
"""Templates between two looks at the memory."""


def main(folder: Path) -> None:
    files = sorted(folder.iterdir())
    loading: list[float] = []
    reviewing: dict[str, list[float]] = {}
    memory: list[tuple[int, int]] = []
    mapping: dict[str, list[float]] = {}
    verdicts = 0
    for number, file in enumerate(files):
        start = time.process_time()
        sources = load([file], region=REGION)
        loaded = time.process_time()
        verdicts += len(review_sources(sources).verdicts)
        ended = time.process_time()
        loading.append(loaded - start)
        reviewing.setdefault(kind_of(file), []).append(ended - loaded)
        mapped = mapping.setdefault(kind_of(file), [])
        if len(mapped) < MAPPED:
            document = read_stack(file, region=REGION)
            start = time.process_time()
            trust_map(document)
            mapped.append(time.process_time() - start)
        if number % STEP == 0:
            memory.append((number, resident_bytes()))
    settled = memory[len(memory) // 2 :]
    figures: dict[str, Any] = {
        "templates": len(files),
        "verdicts": verdicts,
        "load": statistics.median(loading),
        "review": {kind: statistics.median(times) for kind, times in reviewing.items()},
        "trust_map": {kind: statistics.median(times) for kind, times in mapping.items()},
        "memory": settled[-1][1],
        "memory_per_template": statistics.linear_regression(*zip(*settled, strict=True)).slope,
        "cdk": sorted(
            name for name in sys.modules if name.partition(".")[0] in ("aws_cdk", "jsii", "constructs")
        ),
    }
    json.dump(figures, sys.stdout)


def kind_of(file: Path) -> str:
    return file.stem.partition("-")[0]


def resident_bytes() -> int:
    """Memory that the process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
