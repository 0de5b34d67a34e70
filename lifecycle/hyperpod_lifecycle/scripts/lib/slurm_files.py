#!/usr/bin/env python3
"""Slurm's configuration on the controller, as text: what is there, and what is to be there.

Usage: slurm_files.py names-controller SLURM_CONF ADDRESS...
       slurm_files.py settings SLURM_CONF PARAMETERS HOST INCLUDED_FILE
       slurm_files.py with-settings SLURM_CONF INCLUDED_FILE
       slurm_files.py gres SLURM_CONF
       slurm_files.py without-empty-topology SLURM_CONF
       slurm_files.py guard-topology SLURM_CONF

All but the last change nothing: they print what a file is to hold. Needs nothing but the standard library of
the node's own Python.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Callable

# Before a line of slurm.conf that something of ours stands in for. Taken away again where nothing does.
SET_ASIDE = "#hyperpod# "
WITHOUT_TOPOLOGY = "#hyperpod topology# "
BEGIN, END = "# BEGIN hyperpod settings", "# END hyperpod settings"
TOPOLOGY_NAMES = ("topology.yaml", "topology.conf")
_NAME = re.compile(r"\s*([A-Za-z]+)\s*=")
_GPUS = re.compile(r"\bGres=\S*?\bgpu(?::[A-Za-z][^\s:,(]*)?:(\d+)", re.IGNORECASE)
_PARTITION_TOPOLOGY = re.compile(r"\s+Topology=\S+", re.IGNORECASE)


def read(path: str) -> str:
    """Text of a file, empty where there is none; carriage returns and a missing last line end are mended."""
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8-sig") as file:
        lines = file.read().splitlines()
    return "".join(line + "\n" for line in lines)


def name_of(line: str) -> str:
    """The parameter of a line in lower case, or nothing."""
    found = _NAME.match(line.split("#", 1)[0])
    return found.group(1).lower() if found else ""


def is_empty_topology(text: str) -> bool:
    """Whether a topology file names no switch and no block: nothing but comments, '[]' or '---'."""
    lines = [line.split("#", 1)[0].strip() for line in text.splitlines()]
    return all(line in ("", "[]", "{}", "---", "null") for line in lines)


def names_controller(conf: str, *addresses: str) -> int:
    """Exit status 0 if slurm.conf names one of the addresses as a controller."""
    hosts = [line for line in read(conf).splitlines() if name_of(line) in ("slurmctldhost", "controladdr")]
    words = {word for line in hosts for word in re.split(r"[=()\s,]+", line)}
    return 0 if words & set(addresses) else 1


def split_block(text: str) -> tuple[list[str], list[str]]:
    """Lines outside of our block, and those in it."""
    outside: list[str] = []
    inside: list[str] = []
    within = False
    for line in text.splitlines():
        if line == BEGIN:
            within = True
        elif line == END:
            within = False
        else:
            (inside if within else outside).append(line)
    # Without its end mark a block would reach to the end of the file: then only the mark goes.
    return ([*outside, *inside], []) if within else (outside, inside)


def settings(conf: str, parameters: str, host: str, included: str) -> int:
    """The included file with what is added: accounting, the user's settings, GRES types that nodes have."""
    with open(parameters, encoding="utf-8-sig") as file:
        slurm = json.load(file)["slurm"]
    outside, _ = split_block(read(included))
    added = list(slurm.get("settings", []))
    named = {name_of(line) for line in added}
    if slurm.get("accounting"):
        for line in (
            "AccountingStorageType=accounting_storage/slurmdbd",
            "AccountingStorageHost=" + host,
            "JobAcctGatherType=jobacct_gather/linux",
        ):
            if name_of(line) not in named:
                added.append(line)
    wants_gpus = any("gres/gpu" in line.lower() for line in added) or _GPUS.search(read(conf))
    named |= {name_of(line) for line in [*outside, *read(conf).splitlines()]}
    if wants_gpus and "grestypes" not in named:
        added.append("GresTypes=gpu")
    block = [BEGIN, *sorted(added), END] if added else []
    sys.stdout.write("".join(line + "\n" for line in [*outside, *block]))
    return 0


def with_settings(conf: str, included: str) -> int:
    """slurm.conf with what our block sets set aside: Slurm takes one of two, and complains."""
    _, inside = split_block(read(included))
    set_here = {name_of(line) for line in inside} - {""}
    lines = []
    includes = False
    for line in read(conf).splitlines():
        if line.startswith(SET_ASIDE):
            line = line[len(SET_ASIDE) :]
        if name_of(line) in set_here:
            line = SET_ASIDE + line
        found = re.match(r"\s*Include\s+(\S+)", line, re.IGNORECASE)
        includes = includes or bool(found and os.path.basename(found.group(1)) == os.path.basename(included))
        lines.append(line)
    if set_here and not includes:
        # Before the nodes: they refer to GresTypes.
        at = next((number for number, line in enumerate(lines) if name_of(line) == "nodename"), len(lines))
        lines.insert(at, "Include " + os.path.basename(included))
    sys.stdout.write("".join(line + "\n" for line in lines))
    return 0


def gres(conf: str) -> int:
    """gres.conf for the nodes whose line in slurm.conf says how many GPUs they have."""
    for line in read(conf).splitlines():
        found = _GPUS.search(line.split("#", 1)[0])
        if name_of(line) == "nodename" and found:
            node = re.split(r"[=\s]+", line.strip())[1]
            last = int(found.group(1)) - 1
            devices = "/dev/nvidia0" if last == 0 else f"/dev/nvidia[0-{last}]"
            print(f"NodeName={node} Name=gpu File={devices}")
    return 0


def topology_is_empty(conf: str) -> bool:
    """Whether a topology is asked for and no file describes one."""
    folder = os.path.dirname(conf)
    if not all(is_empty_topology(read(os.path.join(folder, name))) for name in TOPOLOGY_NAMES):
        return False
    return any(
        re.match(r"topologyplugin\s*=\s*\"?topology/(tree|block)", line.strip().lower())
        or (name_of(line) == "partitionname" and _PARTITION_TOPOLOGY.search(line.split("#", 1)[0]))
        for line in read(conf).splitlines()
    )


def lines_without_empty_topology(conf: str) -> str:
    """slurm.conf without the topology that no file describes: slurmctld stops at it, or refuses jobs."""
    is_empty = topology_is_empty(conf)
    lines = []
    for line in read(conf).splitlines():
        if is_empty and name_of(line) == "topologyplugin":
            line = WITHOUT_TOPOLOGY + line
        elif is_empty and name_of(line) == "partitionname":
            line = _PARTITION_TOPOLOGY.sub("", line)
        lines.append(line)
    return "".join(line + "\n" for line in lines)


def without_empty_topology(conf: str) -> int:
    """Print slurm.conf as it is to be."""
    sys.stdout.write(lines_without_empty_topology(conf))
    return 0


def guard_topology(conf: str) -> int:
    """Write slurm.conf without an empty topology and take an empty topology.yaml away."""
    if not topology_is_empty(conf):
        return 0
    content = lines_without_empty_topology(conf)
    folder = os.path.dirname(conf)
    # First: once slurm.conf asks for no topology, nothing says that this file is in the way.
    empty = os.path.join(folder, TOPOLOGY_NAMES[0])
    if os.path.exists(empty):
        os.remove(empty)
    status = os.stat(conf)
    descriptor, path = tempfile.mkstemp(prefix="slurm.conf.hyperpod-new.", dir=folder)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.chmod(path, status.st_mode & 0o7777)
    os.chown(path, status.st_uid, status.st_gid)
    os.replace(path, conf)
    return 0


COMMANDS: dict[str, Callable[..., int]] = {
    "names-controller": names_controller,
    "settings": settings,
    "with-settings": with_settings,
    "gres": gres,
    "without-empty-topology": without_empty_topology,
    "guard-topology": guard_topology,
}

if __name__ == "__main__":
    sys.exit(COMMANDS[sys.argv[1]](*sys.argv[2:]))
