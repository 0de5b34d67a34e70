"""Reads of an EKS cluster's Kubernetes API: directly with the AWS credentials, or through kubectl.

The API is asked over HTTPS with a token that the AWS credentials sign, so that neither kubectl nor a
kubeconfig is needed. Where that fails, a context of kubectl's that names the same endpoint asks in its
place; another cluster is never asked by mistake.
"""

from __future__ import annotations

import base64
import json
import shutil
import ssl
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from hyperpod_lifecycle.operations.errors import OperationError
from hyperpod_model.catalog.preflight import KUBERNETES_READ_POLICY

_SECONDS: Final = 15
_PAGE: Final = 500
_NOT_FOUND: Final = 404
_UNAUTHORIZED: Final = (401, 403)


class KubernetesUnreachableError(Exception):
    """Kubernetes cannot be asked; says why and how to change that."""


class KubernetesReads:
    """Asks the Kubernetes API of an EKS cluster, for reading.

    Args:
        name: Name of the EKS cluster.
        describe: Returns what EKS says of it.
        token: Returns a bearer token for its API.
        context: Context of kubectl that is asked alone. Default: the API itself is asked, then the context
            that names its endpoint.
    """

    def __init__(
        self,
        *,
        name: str,
        describe: Callable[[], Mapping[str, Any]],
        token: Callable[[], str],
        context: str | None = None,
    ) -> None:
        self._name = name
        self._describe = describe
        self._token = token
        self._context = context
        self._silence: KubernetesUnreachableError | None = None

    def one(self, path: str) -> Mapping[str, Any] | None:
        """Read an object.

        Args:
            path: Of the API, such as ``/apis/apps/v1/namespaces/kube-system/daemonsets/x``.

        Returns:
            The object; None if there is none.

        Raises:
            KubernetesUnreachableError: If Kubernetes cannot be asked.
        """
        if self._context is not None:
            return self._by_kubectl(self._context, path)
        try:
            cluster = self._describe()
        except OperationError as error:
            raise KubernetesUnreachableError(str(error)) from error
        try:
            return self._directly(cluster, path)
        except KubernetesUnreachableError as error:
            context = _context_of(str(cluster.get("endpoint", "")))
            if context is None:
                raise
            try:
                return self._by_kubectl(context, path)
            except KubernetesUnreachableError as other:
                raise KubernetesUnreachableError(f"{error}; {other}") from other

    def all(self, path: str) -> list[Mapping[str, Any]]:
        """Read the items of a list, page by page.

        Args:
            path: Of the API, such as ``/apis/apps/v1/daemonsets``.

        Raises:
            KubernetesUnreachableError: If Kubernetes cannot be asked.
        """
        return list(self._items(path))

    def _items(self, path: str) -> Iterator[Mapping[str, Any]]:
        more = f"{path}?limit={_PAGE}"
        while True:
            page = self.one(more)
            if page is None:
                return
            yield from page["items"]
            following = page.get("metadata", {}).get("continue")
            if not following:
                return
            more = f"{path}?limit={_PAGE}&continue={urllib.parse.quote(following, safe='')}"

    def _by_kubectl(self, context: str, path: str) -> Mapping[str, Any] | None:
        try:
            return _by_kubectl(context, path)
        except _RefusedError as error:
            raise KubernetesUnreachableError(
                f"{error}; 'aws eks update-kubeconfig --name {self._name}' makes a context with the AWS "
                "credentials"
            ) from error

    def _directly(self, cluster: Mapping[str, Any], path: str) -> Mapping[str, Any] | None:
        if self._silence is not None:
            raise self._silence
        endpoint = cluster.get("endpoint")
        if not endpoint:
            raise KubernetesUnreachableError(
                f"EKS does not tell the endpoint of {self._name}; wait until the cluster is ACTIVE, or say "
                "--kube-context"
            )
        trust = self._trust(cluster)
        try:
            request = urllib.request.Request(
                f"{endpoint}{path}", headers={"Authorization": f"Bearer {self._token()}"}
            )
        except OperationError as error:
            raise KubernetesUnreachableError(str(error)) from error
        try:
            with urllib.request.urlopen(request, context=trust, timeout=_SECONDS) as answer:
                found: Mapping[str, Any] = json.load(answer)
                return found
        except urllib.error.HTTPError as error:
            if error.code == _NOT_FOUND:
                return None
            if error.code in _UNAUTHORIZED:
                raise KubernetesUnreachableError(
                    f"the EKS cluster {self._name} does not let these credentials read {path}; give their "
                    f"role an access entry with {KUBERNETES_READ_POLICY}, or say --kube-context"
                ) from error
            raise KubernetesUnreachableError(
                f"the API of {self._name} answers {error.code} {error.reason}"
            ) from error
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            # An endpoint without an answer takes its time each time.
            self._silence = KubernetesUnreachableError(
                f"the API of the EKS cluster {self._name} cannot be reached ({reason}); run this where its "
                "endpoint can be reached, such as in its VPC, or say --kube-context"
            )
            raise self._silence from error

    def _trust(self, cluster: Mapping[str, Any]) -> ssl.SSLContext:
        """Trust the cluster's own authority alone."""
        try:
            authority = base64.b64decode(cluster.get("certificateAuthority", {}).get("data", "")).decode()
            if not authority:
                # Python would trust any public authority instead, and show it the token.
                raise ValueError("there is none")
            return ssl.create_default_context(cadata=authority)
        except (ssl.SSLError, ValueError) as error:
            raise KubernetesUnreachableError(
                f"the certificate of the API of the EKS cluster {self._name} cannot be read ({error}); say "
                "--kube-context"
            ) from error


def _context_of(endpoint: str) -> str | None:
    """Context of kubectl whose cluster has an endpoint; None if there is none, or no kubectl."""
    program = shutil.which("kubectl")
    if program is None or not endpoint:
        return None
    try:
        config = json.loads(_run([program, "config", "view", "-o", "json"]))
    except (KubernetesUnreachableError, ValueError):
        return None
    clusters = {
        each["name"]
        for each in config.get("clusters") or ()
        if str(each.get("cluster", {}).get("server", "")).rstrip("/").lower() == endpoint.rstrip("/").lower()
    }
    for each in config.get("contexts") or ():
        if each.get("context", {}).get("cluster") in clusters:
            return str(each["name"])
    return None


def _by_kubectl(context: str, path: str) -> Mapping[str, Any] | None:
    program = shutil.which("kubectl")
    if program is None:
        raise KubernetesUnreachableError(
            "kubectl is not on the PATH; install it, or leave --kube-context out"
        )
    command = [program, "--context", context, f"--request-timeout={_SECONDS}s", "get", "--raw", path]
    try:
        found: Mapping[str, Any] = json.loads(_run(command))
    except _NoneFoundError:
        return None
    except ValueError as error:
        raise KubernetesUnreachableError(f"kubectl answers no JSON: {error}") from error
    return found


class _RefusedError(KubernetesUnreachableError):
    """kubectl reached no answer, as with an expired context; says what it said."""


class _NoneFoundError(Exception):
    """There is no such object."""


def _run(command: list[str]) -> str:
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=2 * _SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise KubernetesUnreachableError(f"kubectl: {error}") from error
    if ran.returncode == 0:
        return ran.stdout
    if "(NotFound)" in ran.stderr:
        raise _NoneFoundError
    said = ran.stderr.strip().splitlines()
    raise _RefusedError(f"kubectl: {said[-1] if said else 'it failed without a word'}")
