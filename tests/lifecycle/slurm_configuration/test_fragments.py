from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from hyperpod_lifecycle.slurm_configuration.fragments import check_slurm_fragment


def said(text: str, *, whole: bool = False) -> list[str]:
    found = check_slurm_fragment(text, path="accounting.conf", whole=whole)
    return [f"{fault.severity} {fault}" for fault in found]


SOUND = """# ACCOUNTING
JobAcctGatherType=jobacct_gather/linux
AccountingStorageType = accounting_storage/slurmdbd   # with blanks
AccountingStorageHost=ip-10-1-0-10
AccountingStorageTRES=gres/gpu
SchedulerParameters=bf_continue,\\
defer
include more.conf
"""


def test_sound() -> None:
    assert said(SOUND) == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "AccountingStorageTRES: gres/gpu",
            "error accounting.conf (line 2): separates name and value with ':', at which slurmctld stops, "
            "got 'AccountingStorageTRES: gres/gpu'; write AccountingStorageTRES=gres/gpu",
        ),
        (
            "AccountingStorageTRES=gres/gpu license/x",
            "error accounting.conf (line 2): AccountingStorageTRES is a list with commas and nothing else "
            "between, got a blank in 'gres/gpu license/x'; write gres/gpu,license/x",
        ),
        (
            "AccountingStorageTRES gres/gpu",
            "error accounting.conf (line 2): is no parameter with '=' and value, got 'AccountingStorageTRES "
            "gres/gpu', at which slurmctld stops; correct it",
        ),
        (
            "NodeName=ip-10-1-2-3 Gres=gpu:8",
            "error accounting.conf (line 2): NodeName is HyperPod's to write: HyperPod writes nodes when it "
            "adds and replaces them; leave it out",
        ),
    ],
)
def test_wrong(line: str, message: str) -> None:
    assert said(f"# one\n{line}\nKillWait=30\n") == [message]


def test_twice_in_one_file() -> None:
    (fault,) = said("KillWait=30\nGresTypes=gpu\nkillwait=60\n")
    assert fault == (
        "warning accounting.conf (line 3): gives killwait again after line 1, and Slurm takes the later; "
        "keep one"
    )


def test_a_whole_file_names_cluster_controller_and_nodes() -> None:
    text = (
        "ClusterName=ml\nSlurmctldHost=ip-10-1-0-10(10.1.0.10)\nNodeName=ip-10-1-1-[1-2] Gres=gpu:8\n"
        "PartitionName=dev Nodes=ALL Default=YES\nAuthType=auth/munge\n"
    )
    assert said(text, whole=True) == []
    assert len(said(text)) == 5


PARSED = [
    "AccountingStorageTRES: gres/gpu",
    "AccountingStorageTRES=gres/gpu license/x",
    "AccountingStorageTRES gres/gpu",
    "GresTypes=gpu, nic",
    "SchedulerParameters=bf_continue defer",
    "AcountingStorageTRES=cpu",
]
FINE = [
    "AccountingStorageTRES = gres/gpu",
    'LaunchParameters="enable_nss_slurm"',
    "SchedulerParameters=bf_continue,\\\ndefer",
    "KillWait=30 # comment",
]


@pytest.mark.needs_system("scontrol")
@pytest.mark.parametrize("line", [*PARSED, *FINE])
def test_slurms_own_parser_agrees(tmp_path: Path, line: str) -> None:
    config = tmp_path / "slurm.conf"
    config.write_text(
        f"ClusterName=x\nSlurmctldHost=localhost\nNodeName=n1\nInclude {tmp_path}/accounting.conf\n"
    )
    (tmp_path / "accounting.conf").write_text(line + "\n")
    result = subprocess.run(
        ["scontrol", "show", "hostnames", "a"],
        env={**os.environ, "SLURM_CONF": str(config)},
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert (result.returncode != 0) == (line in PARSED), result.stderr
    assert bool(said(line)) == (line in PARSED)
