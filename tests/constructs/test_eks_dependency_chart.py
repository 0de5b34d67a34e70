"""Where the dependency chart comes from, and what it lacks."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from aws_cdk import App, CfnParameter, Environment, Stack
from aws_cdk import aws_lambda as lambda_
from aws_cdk.assertions import Annotations, Match
from stacks import only, resources, template_of

from hyperpod_constructs.cluster_network import ClusterNetwork
from hyperpod_constructs.dependency_chart import DependencyChart
from hyperpod_constructs.eks_control_plane import EksControlPlane
from hyperpod_model.catalog.add_ons import CHART_COMPONENTS
from hyperpod_model.faults import InvalidInputError

COMPONENTS = [part.name for part in CHART_COMPONENTS]


def _chart(folder: Path, *, dependencies: list[str] = COMPONENTS, vendored: list[str] = COMPONENTS) -> Path:
    folder.mkdir(exist_ok=True)
    content = {
        "apiVersion": "v2",
        "name": "hyperpod-helm-chart",
        "version": "0.1.0",
        "dependencies": [{"name": name, "version": "0.1.0", "repository": "x"} for name in dependencies],
    }
    (folder / "Chart.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    for name in vendored:
        (folder / "charts" / name).mkdir(parents=True)
        (folder / "charts" / name / "Chart.yaml").write_text(
            f"name: {name}\nversion: 0.1.0\n", encoding="utf-8"
        )
    return folder


def _stack(chart: DependencyChart, *, region: str | None = None) -> Stack:
    stack = Stack(App(), "Training", env=None if region is None else Environment(region=region))
    zones = {"eu-west-1": "euw1"}.get(str(region), "usw2")
    network = ClusterNetwork(
        stack,
        "Network",
        availability_zone_id=f"{zones}-az1",
        control_plane_availability_zone_ids=[f"{zones}-az1", f"{zones}-az2"],
    )
    EksControlPlane(
        stack,
        "Eks",
        network=network,
        dependency_chart=chart,
        kubectl_layer=lambda_.LayerVersion.from_layer_version_arn(
            stack, "Layer", "arn:aws:lambda:us-west-2:111122223333:layer:kubectl:1"
        ),
    )
    return stack


def _release(stack: Stack) -> dict[str, Any]:
    _, resource = only(template_of(stack), "Custom::AWSCDK-EKS-HelmChart")
    said: dict[str, Any] = resource["Properties"]
    return said


def test_a_folder_is_packed_and_uploaded(tmp_path: Path) -> None:
    stack = _stack(DependencyChart.from_folder(_chart(tmp_path / "chart")))
    said = _release(stack)
    assert json.dumps(said["ChartAssetURL"]).count(".zip") == 1
    assert "Chart" not in said
    assert (said["Release"], said["Namespace"]) == ("hyperpod-dependencies", "kube-system")
    assert "CreateNamespace" not in said
    folders = [
        path for path in Path(_app_of(stack).outdir).glob("asset.*") if (path / "Chart.yaml").is_file()
    ]
    assert len(folders) == 1


def _app_of(stack: Stack) -> App:
    root = stack.node.root
    assert isinstance(root, App)
    return root


def _values(chart: DependencyChart, region: str | None = None) -> Any:
    """The values of the release; where the region is known at deployment only, with its pseudo parameter."""
    said = _release(_stack(chart, region=region))["Values"]
    text = said if isinstance(said, str) else "".join(_text(part) for part in said["Fn::Join"][1])
    return json.loads(text)


def _text(part: Any) -> str:
    return part if isinstance(part, str) else str(part["Ref"])


def test_values_reach_the_chart(tmp_path: Path) -> None:
    values = {"trainingOperators": {"enabled": True}}
    said = _values(DependencyChart.from_folder(_chart(tmp_path / "chart"), values=values))
    assert said["trainingOperators"] == {"enabled": True}


def test_the_health_agent_gets_its_image_from_the_region_of_the_stack(tmp_path: Path) -> None:
    chart = DependencyChart.from_folder(_chart(tmp_path / "chart"))
    assert _values(chart, "eu-west-1") == {"health-monitoring-agent": {"region": "eu-west-1"}}
    assert _values(chart) == {"health-monitoring-agent": {"region": "AWS::Region"}}


def test_values_of_the_user_stand_beside_the_region_and_over_it(tmp_path: Path) -> None:
    folder = _chart(tmp_path / "chart")
    beside = DependencyChart.from_folder(folder, values={"health-monitoring-agent": {"imageTag": "1"}})
    assert _values(beside, "us-west-2")["health-monitoring-agent"] == {"region": "us-west-2", "imageTag": "1"}
    over = DependencyChart.from_folder(folder, values={"health-monitoring-agent": {"region": "us-east-1"}})
    assert _values(over, "us-west-2")["health-monitoring-agent"] == {"region": "us-east-1"}


def test_the_installer_logs_in_to_a_registry_that_is_given_as_repository() -> None:
    # The CDK's handler logs in to ECR for a Repository that begins with oci://, never for a Chart.
    uri = "oci://111122223333.dkr.ecr.us-west-2.amazonaws.com/charts/hyperpod-helm-chart"
    said = _release(_stack(DependencyChart.from_oci(uri, version="0.1.0")))
    assert (said["Repository"], said["Chart"], said["Version"]) == (uri, "hyperpod-helm-chart", "0.1.0")


def test_a_registry_known_at_deployment_only_is_given_as_repository_too() -> None:
    stack = Stack(App(), "Other")
    uri = f"oci://{stack.account}.dkr.ecr.us-west-2.amazonaws.com/hyperpod-helm-chart"
    said = _release(_stack(DependencyChart.from_oci(uri, version="0.1.0")))
    assert "oci://" in json.dumps(said["Repository"])
    assert said["Chart"] == "hyperpod-helm-chart"


def test_helm_gives_up_before_the_function_that_runs_it_is_stopped(tmp_path: Path) -> None:
    stack = _stack(DependencyChart.from_folder(_chart(tmp_path / "chart")))
    said = _release(stack)
    (handler,) = [
        found["Properties"]
        for found in resources(template_of(stack), "AWS::Lambda::Function").values()
        if found["Properties"].get("Description", "").startswith("onEvent handler for EKS kubectl")
    ]
    assert int(said["Timeout"].removesuffix("s")) <= handler["Timeout"] - 60


def test_packed_sub_charts_count_too(tmp_path: Path) -> None:
    folder = _chart(tmp_path / "chart", vendored=COMPONENTS[1:])
    with tarfile.open(folder / "charts" / f"{COMPONENTS[0]}-0.1.0.tgz", "w:gz") as archive:
        archive.addfile(tarfile.TarInfo("Chart.yaml"), io.BytesIO())
    assert not DependencyChart.from_folder(folder).is_installed


def test_a_sub_chart_counts_by_its_name_not_by_that_of_its_folder(tmp_path: Path) -> None:
    folder = _chart(tmp_path / "chart")
    (folder / "charts" / COMPONENTS[0]).rename(folder / "charts" / "elsewhere")
    assert not DependencyChart.from_folder(folder).is_installed


def test_another_sub_chart_whose_name_begins_alike_does_not_count(tmp_path: Path) -> None:
    folder = _chart(tmp_path / "chart", vendored=COMPONENTS[1:])
    (folder / "charts" / f"{COMPONENTS[0]}-extra-0.1.0.tgz").write_bytes(b"")
    with pytest.raises(InvalidInputError, match=f"which are {COMPONENTS[0]}; run helm"):
        DependencyChart.from_folder(folder)


def test_sub_charts_that_are_not_there_are_named_together(tmp_path: Path) -> None:
    folder = _chart(tmp_path / "chart", vendored=COMPONENTS[2:])
    with pytest.raises(InvalidInputError) as raised:
        DependencyChart.from_folder(folder)
    message = str(raised.value)
    assert f"dependency chart: folder: lacks sub-charts that '{folder / 'Chart.yaml'}' depends on" in message
    assert f"which are {COMPONENTS[0]}, {COMPONENTS[1]}; run helm dependency update {folder}" in message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "without a Chart.yaml; use a copy of helm_chart/HyperPodHelmChart of https://github.com/aws/"),
        ("name: [", "Chart.yaml', which cannot be read: "),
        ("- a", "Chart.yaml' without name and version"),
        ("name: x", "Chart.yaml' without name and version"),
    ],
)
def test_a_folder_that_is_no_chart_is_refused(tmp_path: Path, content: str | None, message: str) -> None:
    if content is not None:
        (tmp_path / "Chart.yaml").write_text(content, encoding="utf-8")
    with pytest.raises(InvalidInputError) as raised:
        DependencyChart.from_folder(tmp_path)
    assert message in str(raised.value)


def test_a_chart_without_what_resilience_needs_leaves_a_warning(tmp_path: Path) -> None:
    others = COMPONENTS[:-1]
    stack = _stack(DependencyChart.from_folder(_chart(tmp_path / "c", dependencies=others, vendored=others)))
    (found,) = Annotations.from_stack(stack).find_warning("*", Match.string_like_regexp(".*components.*"))
    assert "lacks aws-efa-k8s-device-plugin (lets pods ask for EFA interfaces)" in str(found.entry.data)


def test_the_whole_chart_leaves_none(tmp_path: Path) -> None:
    stack = _stack(DependencyChart.from_folder(_chart(tmp_path / "chart")))
    found = Annotations.from_stack(stack).find_warning("*", Match.string_like_regexp(".*DependencyChart.*"))
    assert found == []


def test_a_registry_needs_its_scheme_and_a_version() -> None:
    with pytest.raises(InvalidInputError, match="uri: must begin with oci://, got 'https://x/y'"):
        DependencyChart.from_oci("https://x/y", version="1")
    for version in (
        "",
        " ",
        None,
        "1",
        "1.2",
        "^1.2.3",
        ">=0.0.0",
        "1.x",
        "*",
        "latest",
        "0.1.0 || 9",
        "0.1.0\n",
    ):
        with pytest.raises(InvalidInputError, match="version: must be one exact version"):
            DependencyChart.from_oci("oci://x/y", version=version)  # type: ignore[arg-type]


def test_a_registry_may_be_known_at_deployment_only() -> None:
    app = App()
    parameter = CfnParameter(Stack(app, "Other"), "Registry")
    assert not DependencyChart.from_oci(parameter.value_as_string, version="1.0.0").is_installed


@pytest.mark.parametrize("version", ["0.1.0", "v1.2.3", "1.2.3-rc.1", "1.2.3+build.5"])
def test_a_version_is_exact(version: str) -> None:
    assert not DependencyChart.from_oci("oci://x/y", version=version).is_installed


def test_a_version_may_be_known_at_deployment_only() -> None:
    parameter = CfnParameter(Stack(App(), "Other"), "Version")
    assert not DependencyChart.from_oci("oci://x/y", version=parameter.value_as_string).is_installed


def test_to_vouch_for_it_installs_nothing() -> None:
    stack = _stack(DependencyChart.installed())
    kinds = {resource["Type"] for resource in template_of(stack)["Resources"].values()}
    assert "Custom::AWSCDK-EKS-HelmChart" not in kinds


@pytest.mark.parametrize("target", ["../secret", "/etc/hostname", "loop"])
def test_links_that_lead_out_of_the_folder_are_refused(tmp_path: Path, target: str) -> None:
    (tmp_path / "secret").write_text("key", encoding="utf-8")
    folder = _chart(tmp_path / "chart")
    (folder / "templates").mkdir()
    link = folder / "templates" / "loop"
    link.symlink_to(target if target != "../secret" else "../../secret")
    with pytest.raises(
        InvalidInputError, match=r"dependency chart: folder: has the symbolic link 'templates/loop'"
    ):
        DependencyChart.from_folder(folder)


def test_links_to_folders_elsewhere_are_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    folder = _chart(tmp_path / "chart")
    (folder / "crds").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InvalidInputError, match="the symbolic link 'crds'"):
        DependencyChart.from_folder(folder)


def test_links_within_the_folder_are_taken(tmp_path: Path) -> None:
    folder = _chart(tmp_path / "chart")
    (folder / "values.yaml").write_text("a: 1", encoding="utf-8")
    (folder / "values-dev.yaml").symlink_to("values.yaml")
    linked = tmp_path / "linked"
    linked.symlink_to(folder)
    assert not DependencyChart.from_folder(linked).is_installed
