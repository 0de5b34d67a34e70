"""What an API server checks about pods in code, so that no schema has it.

A part of what Kubernetes has in ``pkg/apis/core/validation``, on the members that our pods use.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from kubernetes_schemas.object_meta import is_label, is_qualified_name, is_subdomain, label_faults
from kubernetes_schemas.quantities import amount

Body = dict[str, Any]

# The longest-standing rule; newer servers take more.
_VARIABLE = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")
_PORT_NAME = re.compile(r"(?!.*--)[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_NODE_SYSCTLS = ("net.", "kernel.shm", "kernel.msg", "kernel.sem", "fs.mqueue.")
_PROTOCOLS = ("TCP", "UDP", "SCTP")
_CHOICES = {
    "restartPolicy": ("Always", "OnFailure", "Never"),
    "dnsPolicy": ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"),
}
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def pod_faults(spec: Body) -> Iterator[str]:
    """Check the spec of a pod.

    Args:
        spec: The spec, which its schema takes.
    """
    volumes = list(spec.get("volumes", ()))
    yield from _volumes(volumes)
    containers = [*spec.get("initContainers", ()), *spec.get("containers", ())]
    yield from _unique("containers", (container["name"] for container in containers))
    names = {volume["name"] for volume in volumes}
    for container in containers:
        for fault in _container(container, names, host_network=bool(spec.get("hostNetwork"))):
            yield f"containers[{container['name']}].{fault}"
    for toleration in spec.get("tolerations", ()):
        yield from _toleration(toleration)
    yield from label_faults("nodeSelector", spec.get("nodeSelector"))
    yield from _affinity(spec.get("affinity", {}))
    yield from _pod_members(spec)


def _pod_members(spec: Body) -> Iterator[str]:
    for name, allowed in _CHOICES.items():
        if spec.get(name) is not None and spec[name] not in allowed:
            yield f"{name}: unsupported value {spec[name]!r}"
    for name in ("serviceAccountName", "priorityClassName"):
        if spec.get(name) is not None and not is_subdomain(spec[name]):
            yield f"{name}: {spec[name]!r} is not a DNS subdomain"
    if spec.get("terminationGracePeriodSeconds", 0) < 0:
        yield f"terminationGracePeriodSeconds: {spec['terminationGracePeriodSeconds']} is below 0"
    sysctls = (spec.get("securityContext") or {}).get("sysctls", ())
    yield from _unique("sysctls", (sysctl["name"] for sysctl in sysctls))
    for sysctl in sysctls:
        if not sysctl["name"].startswith(_NODE_SYSCTLS):
            yield f"sysctls: {sysctl['name']!r} has no namespace of its own in a pod"
        if spec.get("hostNetwork") and sysctl["name"].startswith("net."):
            yield f"sysctls: {sysctl['name']!r} is not allowed with hostNetwork"


def _container(said: Body, volumes: set[str], *, host_network: bool) -> Iterator[str]:
    if not is_label(said["name"]):
        yield f"name: {said['name']!r} is not a DNS label"
    if not said.get("image") or said["image"] != said["image"].strip():
        yield f"image: {said.get('image')!r} is missing or has spaces around it"
    for variable in said.get("env", ()):
        if not _VARIABLE.fullmatch(variable["name"]):
            yield f"env: {variable['name']!r} is not the name of a variable"
    # The server warns only, and the last one wins: nobody means that.
    yield from _unique("env", (variable["name"] for variable in said.get("env", ())))
    yield from _ports(said.get("ports", ()), host_network=host_network)
    for mount in said.get("volumeMounts", ()):
        if mount["name"] not in volumes:
            yield f"volumeMounts: no volume is named {mount['name']!r}"
        if not mount["mountPath"] or ":" in mount["mountPath"]:
            yield f"volumeMounts: {mount['mountPath']!r} is empty or has a colon"
    yield from _unique("volumeMounts", (mount["mountPath"] for mount in said.get("volumeMounts", ())))
    yield from _resources(said.get("resources", {}))
    security = said.get("securityContext", {})
    if security.get("privileged") and security.get("allowPrivilegeEscalation") is False:
        yield "securityContext: a privileged container cannot forbid escalation"


def _ports(said: Iterable[Body], *, host_network: bool) -> Iterator[str]:
    ports = list(said)
    yield from _unique("ports", (port["name"] for port in ports if port.get("name")))
    numbers = [(port["containerPort"], port.get("protocol", "TCP")) for port in ports]
    # The server warns only; with hostNetwork they are ports of the node, and it refuses.
    yield from _unique("ports", numbers)
    for port in ports:
        if not 1 <= port["containerPort"] <= 65535:
            yield f"ports: {port['containerPort']} is no port"
        if port.get("protocol", "TCP") not in _PROTOCOLS:
            yield f"ports: unsupported protocol {port['protocol']!r}"
        name = port.get("name")
        if name and (len(name) > 15 or not _PORT_NAME.fullmatch(name) or not re.search("[a-z]", name)):
            yield f"ports: {name!r} is not the name of a service"
        if host_network and port.get("hostPort", port["containerPort"]) != port["containerPort"]:
            yield f"ports: hostPort {port['hostPort']} differs from the container's with hostNetwork"


def _resources(said: Body) -> Iterator[str]:
    requests, limits = said.get("requests", {}), said.get("limits", {})
    amounts: dict[str, dict[str, Any]] = {"requests": {}, "limits": {}}
    for kind, quantities in (("requests", requests), ("limits", limits)):
        for name, quantity in quantities.items():
            if not is_qualified_name(name):
                yield f"resources.{kind}: {name!r} is not the name of a resource"
            try:
                amounts[kind][name] = amount(quantity)
            except ValueError as error:
                yield f"resources.{kind}.{name}: {error}"
                continue
            if amounts[kind][name] < 0:
                yield f"resources.{kind}.{name}: {quantity} is below 0"
            if "/" in name and amounts[kind][name] % 1:
                yield f"resources.{kind}.{name}: {quantity} is not whole"
    for name in amounts["requests"].keys() & amounts["limits"].keys():
        if amounts["requests"][name] > amounts["limits"][name]:
            yield f"resources.requests.{name}: more than the limit"
    for name in amounts["requests"].keys() | amounts["limits"].keys():
        limit = amounts["limits"].get(name)
        if _never_overcommitted(name) and amounts["requests"].get(name, limit) != limit:
            yield f"resources.requests.{name}: differs from the limit"
    asked = amounts["requests"].keys() | amounts["limits"].keys()
    if any(name.startswith("hugepages-") for name in asked) and not asked & {"cpu", "memory"}:
        yield "resources: huge pages need cpu or memory as well"


def _never_overcommitted(resource: str) -> bool:
    return "/" in resource or resource.startswith("hugepages-")


def _volumes(volumes: list[Body]) -> Iterator[str]:
    yield from _unique("volumes", (volume["name"] for volume in volumes))
    for volume in volumes:
        name = volume["name"]
        if not is_label(name):
            yield f"volumes: {name!r} is not a DNS label"
        if len(volume) != 2:
            yield f"volumes.{name}: must be of one kind, got {sorted(volume.keys() - {'name'})}"
        claim = volume.get("persistentVolumeClaim")
        if claim is not None and not is_subdomain(claim["claimName"]):
            yield f"volumes.{name}: {claim['claimName']!r} is not a DNS subdomain"
        if "emptyDir" in volume and "sizeLimit" in volume["emptyDir"]:
            try:
                amount(volume["emptyDir"]["sizeLimit"])
            except ValueError as error:
                yield f"volumes.{name}: {error}"
        if "hostPath" in volume and ".." in volume["hostPath"]["path"].split("/"):
            yield f"volumes.{name}: {volume['hostPath']['path']!r} has '..'"


def _toleration(said: Body) -> Iterator[str]:
    operator = said.get("operator", "Equal")
    if operator not in ("Exists", "Equal"):
        yield f"tolerations: unsupported operator {operator!r}"
    if said.get("effect") and said["effect"] not in _EFFECTS:
        yield f"tolerations: unsupported effect {said['effect']!r}"
    if not said.get("key") and operator != "Exists":
        yield "tolerations: without a key, operator must be Exists"
    if said.get("key") and not is_qualified_name(said["key"]):
        yield f"tolerations: {said['key']!r} is not a qualified name"
    if operator == "Exists" and said.get("value"):
        yield "tolerations: value must be empty where operator is Exists"
    yield from label_faults("tolerations", {"value": said.get("value", "")})
    if said.get("tolerationSeconds") is not None and said.get("effect") != "NoExecute":
        yield "tolerations: tolerationSeconds is for effect NoExecute alone"


def _affinity(said: Body) -> Iterator[str]:
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = list(said.get(kind, {}).get("requiredDuringSchedulingIgnoredDuringExecution", ()))
        for weighted in said.get(kind, {}).get("preferredDuringSchedulingIgnoredDuringExecution", ()):
            if not 1 <= weighted["weight"] <= 100:
                yield f"affinity.{kind}: weight {weighted['weight']} is not from 1 to 100"
            terms.append(weighted["podAffinityTerm"])
        for term in terms:
            if not is_qualified_name(term["topologyKey"]):
                yield f"affinity.{kind}: {term['topologyKey']!r} is not a qualified name"
            yield from label_faults(f"affinity.{kind}", term.get("labelSelector", {}).get("matchLabels"))


def _unique(what: str, values: Iterable[Any]) -> Iterator[str]:
    listed = list(values)
    for value in sorted({value for value in listed if listed.count(value) > 1}, key=str):
        yield f"{what}: duplicate {value!r}"
