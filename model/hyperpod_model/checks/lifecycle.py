"""Lifecycle scripts of a group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_model.checks.reading import absent, given, text
from hyperpod_model.faults import Fault

_SCRIPTS = {"OnCreate": "on_create", "OnInitComplete": "on_init_complete"}


def check_lifecycle(group: Mapping[str, Any]) -> list[Fault]:
    """Check the lifecycle configuration of one group."""
    if not isinstance(group.get("LifeCycleConfig"), Mapping):
        return []
    config = group["LifeCycleConfig"]
    faults = []
    if given(config, "OnCreate") and given(config, "OnInitComplete"):
        faults.append(
            Fault(
                ("LifeCycleConfig", "OnInitComplete"),
                "excludes on_create: keep on_init_complete where HyperPod configures Slurm and the script "
                "comes last, or on_create where the script configures everything",
            )
        )
    if all(absent(config, script) for script in _SCRIPTS):
        faults.append(
            Fault(
                ("LifeCycleConfig",),
                "names no script, so nothing runs; give on_create or on_init_complete",
                severity="warning",
            )
        )
    elif absent(config, "SourceS3Uri"):
        faults.append(
            Fault(
                ("LifeCycleConfig", "SourceS3Uri"), "is required for a script, such as 's3://bucket/prefix/'"
            )
        )
    for script in _SCRIPTS:
        name = text(config, script)
        if name is not None:
            faults += _check_name(name, script)
    return faults


def _check_name(name: str, script: str) -> list[Fault]:
    path = ("LifeCycleConfig", script)
    if "://" in name or name.startswith("/") or ".." in name.split("/"):
        return [Fault(path, f"must be the name of a file under source_s3_uri, got {name!r}")]
    if "/" in name:
        return [
            Fault(
                path,
                f"is documented as a file name, got the path {name!r}; "
                "put the script at the top of source_s3_uri",
                severity="warning",
            )
        ]
    return []
