"""The Helm chart that must be in an EKS cluster before HyperPod comes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml
from aws_cdk import Annotations, Duration, RemovalPolicy, Stack, Token
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_s3_assets as assets
from constructs import Construct

from hyperpod_constructs.argument_faults import refuse_arguments
from hyperpod_model.catalog.add_ons import (
    CHART_COMPONENTS,
    CHART_FOLDER,
    CHART_NAMESPACE,
    CHART_REGION_VALUE,
    CHART_RELEASE,
    CHART_REPOSITORY,
)
from hyperpod_model.catalog.names import CHART_VERSION
from hyperpod_model.faults import Fault

CHART_COMPONENTS_WARNING = "hyperpod:DependencyChart.components"

_MAXIMUM_WAIT = Duration.minutes(14)
"""Helm gives up before Lambda stops the CDK's function after 15, which would leave the release locked."""
_WHERE_FROM = f"a copy of {CHART_FOLDER} of {CHART_REPOSITORY}"


class DependencyChart:
    """AWS's chart of health agents, device plugins and job operators, and where it comes from.

    HyperPod expects it in the EKS cluster before the HyperPod cluster is created: without it the creation may
    fail. Source: SageMaker developer guide, sagemaker-hyperpod-eks-install-packages-using-helm-chart. No
    registry publishes the chart: take it from AWS's repository, or push it to a registry of yours. Make one
    with :meth:`from_folder`, :meth:`from_oci` or :meth:`installed`.
    """

    def __init__(
        self,
        *,
        folder: Path | None,
        uri: str | None,
        version: str | None,
        values: Mapping[str, Any],
        missing_components: tuple[str, ...],
    ) -> None:
        self._folder = folder
        self._uri = uri
        self._version = version
        self._values = MappingProxyType(dict(values))
        self._missing_components = missing_components

    @classmethod
    def from_folder(cls, folder: str | Path, *, values: Mapping[str, Any] | None = None) -> DependencyChart:
        """Install the chart from a folder, packed and uploaded with the app's assets.

        Args:
            folder: Folder of the chart, with ``Chart.yaml`` and its sub-charts in ``charts/``: installation
                downloads no dependencies, so run ``helm dependency update`` first.
            values: Values for the chart. Default: the chart's own.

        Raises:
            InvalidInputError: If the folder is no chart, lacks sub-charts that its ``Chart.yaml`` names, or
                has symbolic links to files elsewhere, which could be packed as well.
        """
        path = Path(folder)
        content = _chart_yaml(path)
        _refuse_links_to_elsewhere(path)
        dependencies = _dependencies(content)
        present = _sub_charts(path)
        absent = [name for name in dependencies if not present(name)]
        if absent:
            _refuse(
                "folder",
                f"lacks sub-charts that '{path / 'Chart.yaml'}' depends on, which are {', '.join(absent)}; "
                f"run helm dependency update {path}",
            )
        names = {*dependencies, str(content["name"])}
        return cls(
            folder=path,
            uri=None,
            version=None,
            values={} if values is None else values,
            missing_components=tuple(part.name for part in CHART_COMPONENTS if part.name not in names),
        )

    @classmethod
    def from_oci(cls, uri: str, *, version: str, values: Mapping[str, Any] | None = None) -> DependencyChart:
        """Install the chart from an OCI registry.

        Args:
            uri: Such as ``oci://111122223333.dkr.ecr.us-west-2.amazonaws.com/hyperpod-helm-chart``. Its last
                part must be the name of the chart, as ``helm push`` sees to. Private ECR repositories of
                the account work; others must let anybody pull.
            version: Exact version, never a range, so that every deployment installs the same as long as the
                registry lets nobody overwrite it.
            values: Values for the chart. Default: the chart's own.

        Raises:
            InvalidInputError: If the location is none, or the version is missing or a range.
        """
        if not isinstance(uri, str) or not (Token.is_unresolved(uri) or uri.startswith("oci://")):
            _refuse("uri", f"must begin with oci://, got {uri!r}")
        if not isinstance(version, str) or not (
            Token.is_unresolved(version) or CHART_VERSION.matches(version)
        ):
            _refuse("version", f"must be {CHART_VERSION.in_words}, got {version!r}")
        return cls(
            folder=None,
            uri=uri,
            version=version,
            values={} if values is None else values,
            missing_components=(),
        )

    @classmethod
    def installed(cls) -> DependencyChart:
        """Vouch that the chart is in the EKS cluster, or gets there before HyperPod by other means."""
        return cls(folder=None, uri=None, version=None, values={}, missing_components=())

    @property
    def is_installed(self) -> bool:
        """Whether somebody else installs the chart."""
        return self._folder is None and self._uri is None

    def install(self, scope: Construct, id: str, *, cluster: eks.ICluster) -> eks.HelmChart:
        """Install the chart as release ``hyperpod-dependencies`` in namespace ``kube-system``.

        It is not waited for: its pods run on the nodes that come after it. The health monitoring agent is
        told the region that its image comes from: the chart would ask the nodes, and there are none yet.

        Args:
            scope: Parent of the release.
            id: Id within the parent.
            cluster: EKS cluster with a kubectl provider.
        """
        chart_asset = None
        if self._folder is not None:
            chart_asset = assets.Asset(scope, f"{id}Archive", path=str(self._folder))
        chart = eks.HelmChart(
            scope,
            id,
            cluster=cluster,
            # The CDK's installer logs in to the registry of a repository, never to that of a chart.
            chart=None if self._uri is None else self._uri.rpartition("/")[2],
            repository=self._uri,
            chart_asset=chart_asset,
            version=self._version,
            release=CHART_RELEASE,
            namespace=CHART_NAMESPACE,
            create_namespace=False,
            wait=False,
            timeout=_MAXIMUM_WAIT,
            values=self._values_in(Stack.of(scope).region),
            removal_policy=RemovalPolicy.DESTROY,
        )
        if self._missing_components:
            purposes = {part.name: part.purpose for part in CHART_COMPONENTS}
            Annotations.of(chart).add_warning_v2(
                CHART_COMPONENTS_WARNING,
                "the dependency chart lacks "
                + ", ".join(f"{name} ({purposes[name]})" for name in self._missing_components)
                + "; make sure that something else installs them before the HyperPod cluster",
            )
        return chart

    def _values_in(self, region: str) -> dict[str, Any]:
        part, key = CHART_REGION_VALUE
        said = self._values.get(part, {})
        return {**self._values, part: {key: region, **said} if isinstance(said, Mapping) else said}


def _chart_yaml(folder: Path) -> dict[str, Any]:
    path = folder / "Chart.yaml"
    if not path.is_file():
        _refuse(
            "folder",
            f"must be the folder of a Helm chart, got '{folder}' without a Chart.yaml; use {_WHERE_FROM}",
        )
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        _refuse("folder", f"has '{path}', which cannot be read: {' '.join(str(error).split())}")
    if not isinstance(content, dict) or not content.get("name") or not content.get("version"):
        _refuse("folder", f"has '{path}' without name and version; use {_WHERE_FROM}")
    found: dict[str, Any] = content
    return found


def _refuse_links_to_elsewhere(folder: Path) -> None:
    root = folder.resolve()
    for path in sorted(folder.rglob("*")):
        if not path.is_symlink():
            continue
        try:
            inside = path.resolve().is_relative_to(root)
        except RuntimeError:
            # A loop of links leads nowhere.
            inside = False
        if not inside:
            _refuse(
                "folder",
                f"has the symbolic link '{path.relative_to(folder).as_posix()}' to '{path.readlink()}', and "
                "what lies outside the folder must not be packed with it; put a copy there",
            )


def _dependencies(content: Mapping[str, Any]) -> list[str]:
    listed = content.get("dependencies")
    return [
        str(item["name"])
        for item in (listed if isinstance(listed, list) else ())
        if isinstance(item, dict) and "name" in item
    ]


def _sub_charts(folder: Path) -> Callable[[str], bool]:
    """Whether a sub-chart is there: as a folder, whatever its name, or packed."""
    unpacked = {_chart_yaml(path.parent)["name"] for path in folder.glob("charts/*/Chart.yaml")}
    packed = [path.name for path in folder.glob("charts/*.tgz")]

    def is_there(name: str) -> bool:
        return name in unpacked or any(re.match(rf"{re.escape(name)}-v?\d", file) for file in packed)

    return is_there


def _refuse(argument: str, message: str) -> None:
    refuse_arguments("dependency chart", [Fault((argument,), message)])
