"""What a Kubernetes API server would refuse in rendered objects, as near as data files and own rules come.

A stand-in for the server, which no registry offers:

- Kinds of operators by their CRDs in ``../shared/crds``, read as the server reads them.
- Kinds of Kubernetes, and the pods within jobs, by the schemas of each supported Kubernetes version.
- Metadata, and what the server checks about pods in code, by rules of our own.

Objects are given as they are read from YAML. A rule that the server does not have is no business of this.
"""

from __future__ import annotations

from kubernetes_schemas.refusals import refusals, supported_versions
from kubernetes_schemas.shared_crds import CRDS, needs_crds

__all__ = ["CRDS", "needs_crds", "refusals", "supported_versions"]
