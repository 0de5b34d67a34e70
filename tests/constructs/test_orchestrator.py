"""Who schedules, and who configures Slurm."""

from __future__ import annotations

import re
from typing import Any

import pytest
from aws_cdk import Fn
from clusters import cluster, group_of, properties_of

from hyperpod_constructs.orchestrator import Orchestrator
from hyperpod_constructs.slurm_configuration import SlurmConfiguration
from hyperpod_model.faults import InvalidInputError


def test_hyperpod_configures_slurm_by_default() -> None:
    made = cluster()
    assert properties_of(made)["Orchestrator"] == {"Slurm": {}}
    assert group_of(made)["SlurmConfig"] == {"NodeType": "Compute", "PartitionNames": ["train"]}
    assert list(group_of(made)["LifeCycleConfig"]) == ["OnInitComplete", "SourceS3Uri"]


def test_lifecycle_scripts_configure_slurm() -> None:
    made = cluster(
        orchestrator=Orchestrator.slurm(configuration=SlurmConfiguration.BY_LIFECYCLE_SCRIPTS),
        node_provisioning_mode=None,
    )
    properties = properties_of(made)
    assert not {"Orchestrator", "NodeProvisioningMode"} & set(properties)
    assert "SlurmConfig" not in group_of(made)
    assert group_of(made)["LifeCycleConfig"] == {
        "OnCreate": "main.sh",
        "SourceS3Uri": "s3://sagemaker-scripts/abc",
    }


@pytest.mark.parametrize("strategy", ["Overwrite", "Managed", "Merge"])
def test_strategies(strategy: str) -> None:
    made = cluster(orchestrator=Orchestrator.slurm(strategy=strategy), node_provisioning_mode=None)
    assert properties_of(made)["Orchestrator"] == {"Slurm": {"SlurmConfigStrategy": strategy}}


def test_a_strategy_may_be_a_token() -> None:
    orchestrator = Orchestrator.slurm(strategy=Fn.import_value("strategy"))
    made = cluster(orchestrator=orchestrator, node_provisioning_mode=None)
    assert properties_of(made)["Orchestrator"]["Slurm"]["SlurmConfigStrategy"] == {
        "Fn::ImportValue": "strategy"
    }


@pytest.mark.parametrize(
    ("props", "message"),
    [
        (
            {"strategy": "merge"},
            "Slurm orchestrator: strategy must be one of 'Overwrite', 'Managed', 'Merge', got 'merge'",
        ),
        (
            {"strategy": "Merge", "configuration": SlurmConfiguration.BY_LIFECYCLE_SCRIPTS},
            "Slurm orchestrator: strategy 'Merge' needs SlurmConfiguration.BY_HYPERPOD; leave it out where",
        ),
    ],
)
def test_refused(props: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        Orchestrator.slurm(**props)


def test_configurations_by_name() -> None:
    assert SlurmConfiguration.of("api") == SlurmConfiguration.BY_HYPERPOD
    assert SlurmConfiguration.of("lifecycle") == SlurmConfiguration.BY_LIFECYCLE_SCRIPTS
    with pytest.raises(InvalidInputError, match="no Slurm configuration 'API'; allowed: api, lifecycle"):
        SlurmConfiguration.of("API")
