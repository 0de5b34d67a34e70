from __future__ import annotations

import pytest

from hyperpod_model.checks.slurm_settings import check_slurm_settings
from hyperpod_model.faults import UNKNOWN


def said(settings: dict[str, object], **options: bool) -> list[str]:
    return [f"{fault.severity} {fault}" for fault in check_slurm_settings(settings, **options)]


WRONG = [
    ({"AccountingStorageTRES": "gres/gpu;bb/x"}, "got ';' in 'gres/gpu;bb/x'; write gres/gpu,bb/x"),
    ({"AccountingStorageTRES": "gres/gpu license/matlab"}, "got a blank in"),
    ({"AccountingStorageTRES": "gres/gpu, license/matlab"}, "write gres/gpu,license/matlab"),
    ({"AccountingStorageTRES": "gres/gpu|cpu"}, "got '|' in"),
    ({"AccountingStorageTRES": "gres:gpu"}, "got 'gres:gpu', at which slurmctld stops; write gres/gpu"),
    ({"AccountingStorageTRES": "gres=gpu"}, "write gres/gpu"),
    ({"AccountingStorageTRES": "gpu"}, "got 'gpu', at which slurmctld stops; write gres/gpu"),
    ({"AccountingStorageTRES": "GPUs"}, "got 'GPUs', at which slurmctld stops; write gres/gpu"),
    ({"AccountingStorageTRES": "disk/x"}, "got 'disk/x', at which slurmctld stops; such as gres/gpu"),
    ({"AccountingStorageTRES": "gres/gpu,"}, "has an empty member, got 'gres/gpu,'"),
    ({"accountingstoragetres": "gres:gpu"}, "error accountingstoragetres: needs kind and name"),
    ({"AccountingStorageTRES": ""}, "is empty"),
    ({"GresTypes": "gpu:8"}, "takes names alone, such as gpu, got 'gpu:8'"),
    ({"GresTypes": "gpu;nic"}, "write gpu,nic"),
    ({"AccountingStorageEnforce": "limits qos"}, "write limits,qos"),
    ({"SchedulerParameters": "bf_continue defer"}, "has a blank, behind which slurmctld expects another"),
    ({"Prolog": "/fsx/prolog.sh # ours"}, "must have no '#'"),
    ({"Prolog": "/fsx/a\nNodeName=x"}, "must be one line"),
    ({"LaunchParameters": 'a"b'}, "must be quoted as a whole or not at all"),
    ({"NodeName": "ip-10-1-2-3"}, "is HyperPod's to write: HyperPod writes nodes"),
    ({"clustername": "mine"}, "is HyperPod's to write: state and accounting"),
    ({"Include": "more.conf"}, "give the settings of that file here"),
    ({"Max Job": "1"}, "needs the name of a parameter of slurm.conf, letters only, got 'Max Job'"),
    ({"KillWait": "30", "killwait": "60"}, "killwait: is the same parameter as 'KillWait'"),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "message"), WRONG, ids=[str(settings) for settings, _ in WRONG])
def test_wrong(settings: dict[str, object], message: str) -> None:
    (fault,) = said(settings)
    assert fault.startswith("error ")
    assert message in fault


@pytest.mark.parametrize(
    "settings",
    [
        {"AccountingStorageTRES": "gres/gpu"},
        {"AccountingStorageTRES": "gres/gpu,gres/gpu:h100,license/matlab,fs/lustre,cpu,Mem"},
        {"AccountingStorageTRES": '"gres/gpu,cpu"'},
        {"GresTypes": "gpu,nic"},
        {"LaunchParameters": '"enable_nss_slurm use_interactive_step"'},
        {"SchedulerParameters": "bf_continue,defer,max_rpc_cnt=150"},
        {"Prolog": "/fsx/slurm/prolog.sh"},
        {"KillWait": "60", "JobRequeue": "1", "TreeWidth": "64"},
        {"TaskPlugin": "task/none"},
        {"SomethingNewIn2031": "yes"},
        {"AccountingStorageTRES": UNKNOWN},
        {},
    ],
    ids=str,
)
def test_right(settings: dict[str, object]) -> None:
    assert said(settings) == []


def test_a_slip_of_the_pen_names_the_parameter_that_was_meant() -> None:
    (fault,) = said({"AcountingStorageTRES": "gres/gpu"})
    assert fault.startswith("warning AcountingStorageTRES: is no parameter of Slurm 22.05")
    assert "write AccountingStorageTRES" in fault


def test_auto_resume_goes_with_its_plugin() -> None:
    (fault,) = said({"TaskPlugin": "task/affinity"})
    assert fault == (
        "warning TaskPlugin: takes auto-resume from jobs, which needs task/none, got 'task/affinity'; leave "
        "it out"
    )


class TestAccounting:
    @pytest.mark.parametrize("value", ["gres/gpu", "cpu,license/matlab"])
    def test_resources_that_need_a_database(self, value: str) -> None:
        (fault,) = said({"AccountingStorageTRES": value}, accounting=False)
        assert f"needs an accounting database, without which slurmctld stops at '{value}'" in fault

    def test_limits_need_a_database(self) -> None:
        (fault,) = said({"AccountingStorageEnforce": "limits"}, accounting=False)
        assert "got 'limits' without one" in fault

    def test_the_type_among_the_settings_says_whether_there_is_one(self) -> None:
        settings: dict[str, object] = {"AccountingStorageTRES": "gres/gpu"}
        assert said({**settings, "AccountingStorageType": "accounting_storage/slurmdbd"}) == []
        (fault,) = said({**settings, "AccountingStorageType": "accounting_storage/none"})
        assert "needs an accounting database" in fault

    def test_nothing_is_said_where_it_does_not_matter(self) -> None:
        assert said({"AccountingStorageTRES": "cpu,mem"}, accounting=False) == []
        assert said({"AccountingStorageEnforce": "none"}, accounting=False) == []
        assert (
            said({"AccountingStorageTRES": "gres/gpu", "AccountingStorageEnforce": "qos"}, accounting=True)
            == []
        )
