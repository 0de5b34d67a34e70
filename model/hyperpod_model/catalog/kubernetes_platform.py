"""What is in an EKS cluster for jobs to use: drivers, agents, labels."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from hyperpod_model.catalog._tables import table

_TABLE = table("kubernetes_platform")
_DRIVER = _TABLE["lustre_driver"]

LUSTRE_DRIVER: str = _DRIVER["name"]
"""CSI driver of FSx for Lustre."""

LUSTRE_DNS_NAME_ATTRIBUTE: str = _DRIVER["volume_attributes"]["dns_name"]
LUSTRE_MOUNT_NAME_ATTRIBUTE: str = _DRIVER["volume_attributes"]["mount_name"]
"""Attributes of a volume that is an existing file system."""

LUSTRE_PARAMETERS: Mapping[str, str] = MappingProxyType(_DRIVER["parameters"])
"""Parameters of a StorageClass, by our names. The driver refuses any that it does not know."""

LUSTRE_MOUNT_OPTIONS: tuple[str, ...] = tuple(_DRIVER["mount_options"])
"""``flock``: libraries lock files, which Lustre refuses without it."""

NAMESPACE_NAME_LABEL: str = _TABLE["namespace_name_label"]
"""Label with its own name that Kubernetes gives each namespace."""

DNS_NAMESPACE: str = _TABLE["dns"]["namespace"]
DNS_PODS: Mapping[str, str] = MappingProxyType(_TABLE["dns"]["pods"])
"""Labels of the pods that resolve names."""

POD_IDENTITY_AGENT_CIDRS: tuple[str, ...] = tuple(_TABLE["pod_identity_agent"]["cidrs"])
POD_IDENTITY_AGENT_PORT: int = _TABLE["pod_identity_agent"]["port"]
"""Where pods get credentials from EKS Pod Identity, on their own node."""

NETWORK_POLICY_OPTION: str = _TABLE["network_policy_switch"]["option"]
"""Of the VPC CNI add-on's configuration: ``"true"`` makes it enforce network policies; not default."""

POD_SECURITY_LABEL: str = _TABLE["pod_security"]["label"]
POD_SECURITY_LEVELS: tuple[str, ...] = tuple(_TABLE["pod_security"]["levels"])
"""Of a namespace, the loosest first."""
