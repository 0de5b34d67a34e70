"""The Helm chart that must be in an EKS cluster before HyperPod comes."""

from __future__ import annotations

from pydantic import Field

from hyperpod_model.spec_files.spec_model import SpecModel


class DependencyChartSpec(SpecModel):
    """Where AWS's dependency chart comes from: a folder, an OCI registry, or it is there already.

    The chart is ``HyperPodHelmChart`` of the repository ``aws/sagemaker-hyperpod-cli``: health agent, device
    plugins, job operators. HyperPod expects it in the EKS cluster before ``CreateCluster``.
    """

    folder: str | None = Field(
        default=None,
        description=(
            "Folder of the chart, with its Chart.yaml and its sub-charts in charts/, relative to this file. "
            "It is packed and installed from there. By default none."
        ),
    )
    oci_uri: str | None = Field(
        default=None,
        description=(
            "Where the chart was pushed to, such as "
            "oci://111122223333.dkr.ecr.us-west-2.amazonaws.com/hyperpod-helm-chart: a registry that your "
            "account can pull from. With version. By default none."
        ),
        json_schema_extra={"pattern": "^oci://[^/]+/.+$"},
    )
    version: str | None = Field(
        default=None,
        description="Version of the chart at oci_uri, such as 0.1.0. Required with oci_uri. By default none.",
    )
    installed: bool = Field(
        default=False,
        description=(
            "Whether the chart is in the existing EKS cluster already, for which you vouch. By default false."
        ),
    )
