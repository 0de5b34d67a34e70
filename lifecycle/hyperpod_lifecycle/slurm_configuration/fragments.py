"""Fragments of ``slurm.conf``, such as ``accounting.conf``, that lie among a user's own scripts."""

from __future__ import annotations

import re
from typing import NamedTuple

from hyperpod_model.checks.slurm_settings import check_slurm_settings
from hyperpod_model.faults import Fault

_PAIR = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9]*)\s*(?P<separator>[=:]|\+=|-=)\s*(?P<value>.*)")
_INCLUDE = re.compile(r"include\s+\S+", re.IGNORECASE)
_RECORD = re.compile(r"(?:NodeName|PartitionName|NodeSet|DownNodes|SlurmctldHost)\b", re.IGNORECASE)


class _Setting(NamedTuple):
    name: str
    value: str
    line: int


def check_slurm_fragment(text: str, *, path: str, whole: bool = False) -> list[Fault]:
    """Find what Slurm's parser stops at in a file of its configuration, and what only HyperPod may write.

    Args:
        text: The file.
        path: Its name for people.
        whole: Whether the file is a whole ``slurm.conf``, which names cluster, controller and nodes. By
            default a fragment that HyperPod's own file includes.

    Returns:
        Faults with the file as path, and the line.
    """
    faults: list[Fault] = []
    settings: list[_Setting] = []
    continued = ""
    for number, raw in enumerate(text.splitlines(), start=1):
        line = continued + raw.split("#", 1)[0].rstrip()
        continued = ""
        if line.endswith("\\"):
            continued = line[:-1]
            continue
        line = line.strip()
        if not line or _INCLUDE.fullmatch(line) or (whole and _RECORD.match(line)):
            continue
        found = _PAIR.fullmatch(line)
        if found is None:
            message = (
                f"is no parameter with '=' and value, got '{line}', at which slurmctld stops; correct it"
            )
            faults.append(Fault((path,), message, line=number))
        elif found["separator"] == ":":
            faults.append(
                Fault(
                    (path,),
                    f"separates name and value with ':', at which slurmctld stops, got '{line}'; write "
                    f"{found['name']}={found['value']}",
                    line=number,
                )
            )
        else:
            settings.append(_Setting(found["name"], found["value"].strip(), number))
    return [*faults, *_check_settings(settings, path, whole=whole)]


def _check_settings(settings: list[_Setting], path: str, *, whole: bool) -> list[Fault]:
    faults: list[Fault] = []
    first: dict[str, _Setting] = {}
    for setting in settings:
        seen = first.setdefault(setting.name.lower(), setting)
        if seen is not setting:
            message = (
                f"gives {setting.name} again after line {seen.line}, and Slurm takes the later; keep one"
            )
            faults.append(Fault((path,), message, "warning", setting.line))
    lines = {setting.name: setting.line for setting in first.values()}
    for fault in check_slurm_settings({setting.name: setting.value for setting in first.values()}):
        name = str(fault.path[0])
        if not (whole and "is HyperPod's to write" in fault.message):
            faults.append(Fault((path,), f"{name} {fault.message}", fault.severity, lines[name]))
    return faults
