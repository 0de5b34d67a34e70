"""Prerequisites of checkpointless training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from cluster_requests import group, lines

from hyperpod_model.catalog.versions import CHECKPOINTLESS_RELEASES, MIN_CHECKPOINTLESS_PACKAGE
from hyperpod_model.checks.checkpointless import check_checkpointless
from hyperpod_model.faults import UNKNOWN

IMAGE = "111122223333.dkr.ecr.us-west-2.amazonaws.com/training/checkpointless:v1.0.1"
LEGAL = {
    "operator_version": "1.2.0",
    "framework": "PyTorch",
    "data_format": "ARROW",
    "image_uri": IMAGE,
    "durable_interval_steps": 1000,
    "package_version": "1.0.1",
}
WORKERS = [group("workers", "ml.p5.48xlarge", 2)]


def found(settings: Mapping[str, Any] | None = None, **arguments: Any) -> list[str]:
    defaults: dict[str, Any] = {"orchestrator": "eks", "groups": WORKERS, "region": "us-west-2"}
    return lines(
        check_checkpointless({**LEGAL, **({} if settings is None else settings)}, **{**defaults, **arguments})
    )


def test_the_release_with_the_fix_is_the_minimum() -> None:
    (release,) = [one for one in CHECKPOINTLESS_RELEASES if "LOCAL_RANK" in one.note]
    assert release.version == MIN_CHECKPOINTLESS_PACKAGE


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"operator_version": "v1.2.0-eksbuild.1"},
        {"operator_version": "1.10.0"},
        {"operator_version": "2.0.0"},
        {"package_version": "1.1.0"},
        {"framework": "Nemo", "data_format": "JSON"},
        {"framework": "PyTorch Lightning", "data_format": "JSONGZ"},
        {"image_uri": f"registry.example.com:5000/a/b@sha256:{'0' * 64}"},
        {"image_uri": "111122223333.dkr-ecr.us-west-2.on.aws/a:1"},
        dict.fromkeys(LEGAL, UNKNOWN),
    ],
)
def test_accepts(settings: dict[str, Any]) -> None:
    assert found(settings) == []


def test_what_is_unknown_passes() -> None:
    unknown: dict[str, Any] = {
        "orchestrator": UNKNOWN,
        "groups": UNKNOWN,
        "region": UNKNOWN,
        "tiered_checkpointing": UNKNOWN,
    }
    assert found(**unknown) == []
    assert lines(check_checkpointless(LEGAL, orchestrator="eks")) == []


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"operator_version": "1.1.9"}, "error: operator_version: must be 1.2.0 or later; got '1.1.9'"),
        ({"operator_version": None}, "error: operator_version: is required, 1.2.0 or later"),
        (
            {"operator_version": 1.2},
            "error: operator_version: must be a version such as '1.2.0', got 1.2",
        ),
        (
            {"operator_version": "latest"},
            "error: operator_version: must be a version such as '1.2.0', got 'lat",
        ),
        (
            {"package_version": "1.0.0"},
            "error: package_version: must be 1.0.1 or later: before, the fault handling thread took a wrong "
            "CUDA device; got '1.0.0'",
        ),
        ({"package_version": None}, "error: package_version: is required, 1.0.1 or later: before, the fault"),
        (
            {"framework": "pytorch lightning"},
            "error: framework: must be one of 'Nemo', 'PyTorch', 'PyTorch Lightning', got 'pytorch "
            "lightning'; did you mean 'PyTorch Lightning'",
        ),
        (
            {"framework": "JAX"},
            "error: framework: must be one of 'Nemo', 'PyTorch', 'PyTorch Lightning', got",
        ),
        ({"framework": None}, "error: framework: is required, one of 'Nemo', "),
        (
            {"data_format": "parquet"},
            "error: data_format: must be one of 'JSON', 'JSONGZ', 'ARROW', got 'parq",
        ),
        (
            {"image_uri": None},
            "error: image_uri: is required: checkpointless training runs in an image of its",
        ),
        (
            {"image_uri": "checkpointless"},
            "error: image_uri: must be an image with registry and tag or digest",
        ),
        ({"image_uri": IMAGE.split(":")[0]}, "error: image_uri: must be an image with registry and tag or "),
        (
            {"image_uri": f"{IMAGE.split(':')[0]}:latest"},
            "error: image_uri: must not have the tag 'latest', which changes under a job; pin a version",
        ),
        (
            {"image_uri": IMAGE.replace("us-west-2", "us-east-1")},
            "warning: image_uri: lies in us-east-1 and the cluster in us-west-2: every replacement node",
        ),
        (
            {"durable_interval_steps": None},
            "error: durable_interval_steps: is required: peers restore a failed",
        ),
        ({"durable_interval_steps": 0}, "error: durable_interval_steps: must be 1 or more, got 0"),
        ({"durable_interval_steps": True}, "error: durable_interval_steps: must be 1 or more, got True"),
    ],
)
def test_names_the_setting(settings: dict[str, Any], expected: str) -> None:
    (line,) = found(settings)
    assert line.startswith(expected)


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        (
            [group("workers", "ml.p5.48xlarge", 1)],
            ["error: needs 2 accelerated nodes or more, got 1: a failed"],
        ),
        (
            [group("workers", "ml.p5.48xlarge", 1), group("cpu", "ml.m5.xlarge", 4)],
            ["error: needs 2 accelerated nodes or more, got 1: a failed process is restored from a peer"],
        ),
        ([group("a", "ml.p5.48xlarge", 1), group("b", "ml.p5.48xlarge", 1)], []),
        ([group("workers", "ml.p6-b200.48xlarge", 2)], []),
        ([group("workers", "ml.p5.48xlarge", UNKNOWN)], []),
        ([group("workers", "ml.p9.48xlarge", 1)], []),
        ([group("workers", UNKNOWN, 1)], []),
        (
            [group("workers", "ml.p4d.24xlarge", 2)],
            ["warning: is recommended on ml.p5 and ml.p6 types, got 'ml.p4d.24xlarge'; try the recovery"],
        ),
        (
            [group("a", "ml.trn1.32xlarge", 1), group("b", "ml.trn1.32xlarge", 1)],
            ["warning: is recommended on ml.p5 and ml.p6 types, got 'ml.trn1.32xlarge'"],
        ),
    ],
)
def test_nodes(groups: list[dict[str, Any]], expected: list[str]) -> None:
    reported = found(groups=groups)
    assert len(reported) == len(expected)
    for line, beginning in zip(reported, expected, strict=True):
        assert line.startswith(beginning)


def test_slurm() -> None:
    assert found(orchestrator="slurm") == [
        "error: goes with the EKS orchestrator only; on Slurm, jobs resume from checkpoints"
    ]


@pytest.mark.parametrize(
    ("region", "words"),
    [
        ("ap-southeast-3", "which the release notes name as an opt-in Region without one"),
        ("ap-southeast-4", "which the release notes name as an opt-in Region without one"),
        ("eu-south-2", "which the release notes name as an opt-in Region without one"),
        ("eu-west-3", "which the release notes do not name"),
    ],
)
def test_regions_without_an_image(region: str, words: str) -> None:
    (line,) = found({"image_uri": IMAGE.replace("us-west-2", region)}, region=region)
    assert line.startswith(
        f"warning: image_uri: AWS publishes no image of checkpointless training in {region}, {words}; copy "
    )
    assert "us-west-2" in line


def test_tiered_checkpointing_complements_it_though_a_source_disagrees() -> None:
    (line,) = found(tiered_checkpointing=True)
    assert line.startswith("warning: complements managed tiered checkpointing, one recovers and the other ")
    assert "sagemaker-eks-checkpointless-considerations" in line
