"""EKS of the double: clusters, add-ons, access entries and pod identities. No Kubernetes runs behind them."""

from aws_double.services.eks import access, add_ons, clusters, pod_identity, tags, updates, versions
from aws_double.services.eks.api import API, take_over

__all__ = ["API", "access", "add_ons", "clusters", "install", "pod_identity", "tags", "updates", "versions"]


def install() -> None:
    """Put the double's EKS in the place of moto's; once is enough, twice does no harm."""
    take_over()
