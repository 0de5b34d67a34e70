"""Kubernetes manifests, and the frame for rules about them."""

from hyperpod_policy.manifests.manifest import Manifest, is_manifest, manifests_of
from hyperpod_policy.manifests.rule import ManifestRule, ManifestVerdict

__all__ = ["Manifest", "ManifestRule", "ManifestVerdict", "is_manifest", "manifests_of"]
