"""Health of nodes by the labels, annotations and conditions that HyperPod sets on them in Kubernetes.

The API of the EKS cluster is asked over HTTPS with a token that the AWS credentials sign, so that neither
kubectl nor a kubeconfig is needed, and no other cluster is asked by mistake. Where that API cannot be
reached directly, kubectl with a context of the user's asks in its place.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
import ssl
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from hyperpod_lifecycle.operations.aws import Aws
from hyperpod_lifecycle.operations.clusters import Cluster, Node
from hyperpod_lifecycle.operations.errors import OperationError
from hyperpod_lifecycle.operations.node_health import HealthView, NodeHealth, SeenFault
from hyperpod_model.catalog import labels
from hyperpod_model.catalog.repairs import CONDITION_REPAIRS, HEALTH_STATUS_REPAIRS

_PATH: Final = "/api/v1/nodes"
_PAGE: Final = 500
_INSTANCE: Final = re.compile(r"\bi-[0-9a-f]{8}(?:[0-9a-f]{9})?$")
_SECONDS: Final = 15
_TOKEN_SECONDS: Final = 60
_READ_POLICY: Final = "AmazonEKSAdminViewPolicy"


class _UnreachableError(Exception):
    """Kubernetes cannot be asked; says why and how to change that."""


def kubernetes_health(
    aws: Aws, cluster: Cluster, nodes: Sequence[Node], *, context: str | None = None
) -> HealthView:
    """Ask Kubernetes for the health of nodes.

    Args:
        aws: Clients.
        cluster: A cluster on EKS.
        nodes: Which nodes.
        context: Context of kubectl. Default: the API is asked directly.

    Returns:
        What it said, or why it said nothing.
    """
    source = "Kubernetes" if context is None else f"Kubernetes (kubectl, context {context})"
    try:
        found = _by_api(aws, cluster) if context is None else _by_kubectl(context)
        wanted = {node.id for node in nodes}
        told = {id: row for row in found if (id := _instance(row)) in wanted and id is not None}
    except _UnreachableError as error:
        return HealthView(source=source, unreachable=str(error))
    if nodes and not told:
        return HealthView(
            source=source,
            unreachable=f"it has none of the nodes of {cluster.name}; is that another cluster's context?",
        )
    return HealthView(source=source, nodes={id: _health(row) for id, row in told.items()})


def token_for(aws: Aws, eks_cluster: str) -> str:
    """Return a bearer token for the Kubernetes API of an EKS cluster: a signed URL of STS, in base64.

    Args:
        aws: Clients.
        eks_cluster: Name of the EKS cluster.

    Raises:
        OperationError: If there are no credentials.
    """
    from botocore.auth import SigV4QueryAuth
    from botocore.awsrequest import AWSRequest

    host = aws.client("sts").meta.endpoint_url
    request = AWSRequest(
        "GET",
        f"{host.rstrip('/')}/",
        params={"Action": "GetCallerIdentity", "Version": "2011-06-15"},
        headers={"x-k8s-aws-id": eks_cluster},
    )
    SigV4QueryAuth(aws.credentials(), "sts", aws.region, expires=_TOKEN_SECONDS).add_auth(request)
    url = request.prepare().url
    return "k8s-aws-v1." + base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")


def _by_api(aws: Aws, cluster: Cluster) -> Iterator[Mapping[str, Any]]:
    assert cluster.eks_cluster_arn is not None
    name = cluster.eks_cluster_arn.rpartition("/")[2]
    try:
        told = aws.call("eks", "DescribeCluster", name=name)["cluster"]
        token = token_for(aws, name)
    except OperationError as error:
        raise _UnreachableError(str(error)) from error
    try:
        authority = base64.b64decode(told.get("certificateAuthority", {}).get("data", "")).decode()
        if not authority:
            # Python would trust any public authority instead.
            raise ValueError("there is none")
        trust = ssl.create_default_context(cadata=authority)
    except (ssl.SSLError, ValueError) as error:
        raise _UnreachableError(
            f"the certificate of the API of the EKS cluster {name} cannot be read ({error}); say "
            "--kube-context"
        ) from error
    more: str | None = ""
    while more is not None:
        query = urllib.parse.urlencode({"limit": _PAGE, **({"continue": more} if more else {})})
        page = _get(f"{told['endpoint']}{_PATH}?{query}", token, trust, name)
        yield from page["items"]
        more = page.get("metadata", {}).get("continue") or None


def _get(url: str, token: str, trust: ssl.SSLContext, cluster: str) -> Any:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
    try:
        with urllib.request.urlopen(request, context=trust, timeout=_SECONDS) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        if error.code in (401, 403):
            raise _UnreachableError(
                f"the EKS cluster {cluster} does not let these credentials read nodes; give their role an "
                f"access entry with {_READ_POLICY}, or say --kube-context"
            ) from error
        raise _UnreachableError(f"the API of {cluster} answers {error.code} {error.reason}") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise _UnreachableError(
            f"the API of the EKS cluster {cluster} cannot be reached ({reason}); run this where its endpoint "
            "can be reached, such as in its VPC, or say --kube-context"
        ) from error


def _by_kubectl(context: str) -> list[Mapping[str, Any]]:
    program = shutil.which("kubectl")
    if program is None:
        raise _UnreachableError("kubectl is not on the PATH; install it, or leave --kube-context out")
    command = [program, "--context", context, f"--request-timeout={_SECONDS}s", "get", "nodes", "-o", "json"]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=2 * _SECONDS, check=False)
        if ran.returncode == 0:
            found: list[Mapping[str, Any]] = json.loads(ran.stdout)["items"]
            return found
        said = ran.stderr.strip().splitlines()
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        said = [str(error)]
    raise _UnreachableError(f"kubectl: {said[-1] if said else 'it failed without a word'}")


def _instance(row: Mapping[str, Any]) -> str | None:
    """Return the instance id that a node's name or its cloud's id of it ends with."""
    names = (str(row["metadata"]["name"]), str(row.get("spec", {}).get("providerID", "")))
    found = [match[0] for name in names if (match := _INSTANCE.search(name)) is not None]
    return found[0] if found else None


def _health(row: Mapping[str, Any]) -> NodeHealth:
    told = row["metadata"].get("labels", {})
    state = told.get(labels.NODE_HEALTH_STATUS.key)
    return NodeHealth(
        state=_readiness(row) if state is None else state,
        deep_checks=told.get(labels.DEEP_HEALTH_CHECK_STATUS.key),
        faults=tuple(_faults(row)),
        under_repair=None if state is None else HEALTH_STATUS_REPAIRS.get(state),
    )


def _readiness(row: Mapping[str, Any]) -> str:
    ready = [one["status"] for one in _conditions(row) if one.get("type") == "Ready"]
    return "Ready" if ready == ["True"] else "NotReady"


def _conditions(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = row.get("status", {}).get("conditions", [])
    return found


def _faults(row: Mapping[str, Any]) -> Iterator[SeenFault]:
    metadata = row["metadata"]
    told = metadata.get("labels", {})
    detailed = list(_detailed(metadata.get("annotations", {}).get(labels.FAULT_DETAILS_ANNOTATION)))
    yield from detailed
    kind = told.get(labels.FAULT_TYPES.key, "")
    reason = told.get(labels.FAULT_REASONS.key, "")
    if (kind or reason) and not detailed:
        yield SeenFault(kind=kind, reason=reason, source="node labels")
    for one in _conditions(row):
        if one.get("type") in CONDITION_REPAIRS and one.get("status") == "True":
            yield SeenFault(
                kind=one["type"],
                reason=one.get("reason", ""),
                message=one.get("message", ""),
                source="node condition",
            )


def _detailed(annotation: str | None) -> Iterator[SeenFault]:
    """Read the annotation leniently: the documentation names it JSON, and not its members."""
    if not annotation:
        return
    try:
        told = json.loads(annotation)
    except ValueError:
        yield SeenFault(message=annotation, source="node annotation")
        return
    rows = told.get("faults", [told]) if isinstance(told, dict) else told
    for row in rows if isinstance(rows, list) else [rows]:
        if isinstance(row, dict):
            lowered = {str(key).lower(): str(value) for key, value in row.items()}
            yield SeenFault(
                kind=lowered.get("type", ""),
                reason=lowered.get("reason", ""),
                message=lowered.get("message", "") or json.dumps(row),
                source="node annotation",
            )
        else:
            yield SeenFault(message=str(row), source="node annotation")
