"""Clusters from files: a specification, or a ``CreateCluster`` request."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import ValidationError

from hyperpod_model.cluster_spec.cluster import ClusterSpec
from hyperpod_model.cluster_spec.create_cluster_request import import_request, is_request
from hyperpod_model.faults import Fault, FaultPath, InvalidInputError, refuse
from hyperpod_model.spec_files.field_faults import field_faults, has_field_faults, partial
from hyperpod_model.spec_files.yaml_document import YamlDocument

Kind = Literal["spec", "create-cluster-request"]

_CHART = "Chart.yaml"


class LoadedCluster(NamedTuple):
    """A cluster as it was read.

    Attributes:
        spec: The specification.
        notes: What the user should know: what is made in place of what, what is used as it is, which step is
            due.
        kind: What the file held.
    """

    spec: ClusterSpec
    notes: tuple[str, ...]
    kind: Kind


def load_cluster(
    path: str | PathLike[str],
    *,
    strict: bool = False,
    region: str | None = None,
    availability_zone_id: str | None = None,
) -> LoadedCluster:
    """Read a cluster from a YAML or JSON file.

    A file with the keys of a ``CreateCluster`` request (``aws sagemaker create-cluster --cli-input-json``) is
    read as one; any other file is a specification.

    Args:
        path: The file.
        strict: Whether ids in a request that are not legal are refused. By default what they stand for is
            made, and a note says so.
        region: Region for a request, which names none, such as ``us-west-2``. A specification names its own,
            and another one here is refused. By default that of the credentials at deployment, unless a
            network is made.
        availability_zone_id: ID of the zone in which the network of a request is made, such as ``usw2-az1``.
            A specification names its own. By default none is chosen, and a request that needs a network is
            refused.

    Raises:
        InvalidInputError: With all faults of the file, each with its path and line.
    """
    file = Path(path)
    document = YamlDocument(_content(file))
    faults = list(document.faults)
    data = document.data
    if data is None and not faults:
        faults.append(
            Fault((), f"{file} is empty; describe a cluster, at least name, region, network, instance_groups")
        )
    elif data is not None and not isinstance(data, Mapping):
        faults.append(Fault((), "must be a mapping of fields at the top, such as 'name: llm-train'", line=1))
    if not isinstance(data, Mapping):
        raise InvalidInputError(faults)
    if isinstance(data.get("Resources"), Mapping):
        message = f"{file} is a CloudFormation template, not a cluster; hyperpod-review judges templates"
        raise InvalidInputError([Fault((), message)])
    if is_request(data):
        found, spec, notes = import_request(
            data, document, strict=strict, region=region, zone=availability_zone_id
        )
        kind: Kind = "create-cluster-request"
    else:
        found, spec = _read_spec(data, document, file.parent)
        said = {fault.path for fault in found}
        found += [
            fault
            for fault in _disagreements(data, region=region, availability_zone_id=availability_zone_id)
            if fault.path not in said
        ]
        notes, kind = (), "spec"
    faults += [
        fault if fault.line is not None else fault._replace(line=_line(fault, document))
        for fault in found
        if fault.path not in document.unread
    ]
    refuse(sorted(faults, key=lambda fault: 0 if fault.line is None else fault.line))
    if spec is None:
        raise InvalidInputError(faults)
    warnings = [str(fault) for fault in faults if fault.severity == "warning"]
    return LoadedCluster(spec, (*notes, *spec.steps_due(), *warnings), kind)


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        message = f"there is no cluster file {str(file)!r}; give the path of a YAML or JSON file"
    except IsADirectoryError:
        message = f"{str(file)!r} is a folder; give the path of a YAML or JSON file in it"
    except OSError as error:
        message = f"cannot read the cluster file {str(file)!r}: {error.strerror}"
    raise InvalidInputError([Fault((), message)])


def _line(fault: Fault, document: YamlDocument) -> int | None:
    return document.line(fault.path) if fault.path else None


def _read_spec(
    data: Mapping[str, Any], document: YamlDocument, folder: Path
) -> tuple[list[Fault], ClusterSpec | None]:
    faults: list[Fault] = []
    spec: Any = None
    try:
        spec = ClusterSpec.model_validate(data)
        faults += spec.faults()
    except ValidationError as error:
        faults += field_faults(error, ClusterSpec, document)
        if has_field_faults(error):
            spec = partial(ClusterSpec, data, error)
            faults += spec.faults()
            spec = None
    if "region" in data and data["region"] is None:
        faults.append(Fault(("region",), "is required: the AWS region of the cluster, such as us-west-2"))
    if spec is not None:
        spec = _with_absolute_scripts(spec, folder, faults)
        spec = _with_absolute_chart(spec, folder, faults)
    return faults, spec


def _with_absolute_scripts(spec: ClusterSpec, folder: Path, faults: list[Fault]) -> ClusterSpec:
    scripts = spec.lifecycle_scripts
    if scripts is None or scripts.folder is None:
        return spec
    path: FaultPath = ("lifecycle_scripts", "folder")
    way_out = "give the folder that holds it, and its name as entry_point"
    absolute = _folder(scripts.folder, folder, path, faults, way_out=way_out)
    moved = scripts.model_copy(update={"folder": str(absolute)})
    return spec.model_copy(update={"lifecycle_scripts": moved})


def _with_absolute_chart(spec: ClusterSpec, folder: Path, faults: list[Fault]) -> ClusterSpec:
    chart = spec.eks.dependency_chart
    if chart.folder is None:
        return spec
    path: FaultPath = ("eks", "dependency_chart", "folder")
    absolute = _folder(chart.folder, folder, path, faults, way_out=f"give the folder that holds {_CHART}")
    if absolute.is_dir() and not (absolute / _CHART).is_file():
        message = f"{chart.folder!r} is no Helm chart, it holds no {_CHART}; give the folder that does"
        faults.append(Fault(path, message))
    moved = chart.model_copy(update={"folder": str(absolute)})
    eks = spec.eks.model_copy(update={"dependency_chart": moved})
    return spec.model_copy(update={"eks": eks})


def _folder(said: str, base: Path, path: FaultPath, faults: list[Fault], *, way_out: str) -> Path:
    absolute = (base / said).resolve()
    if absolute.is_file():
        faults.append(Fault(path, f"{said!r} is a file; {way_out}"))
    elif not absolute.is_dir():
        message = f"there is no folder {said!r} in {str(base)!r}; the path is relative to this file"
        faults.append(Fault(path, message))
    return absolute


def _disagreements(
    data: Mapping[str, Any], *, region: str | None, availability_zone_id: str | None
) -> list[Fault]:
    network = data.get("network")
    given = {
        ("region",): (region, data.get("region")),
        ("network", "availability_zone_id"): (
            availability_zone_id,
            network.get("availability_zone_id") if isinstance(network, Mapping) else None,
        ),
    }
    return [
        Fault(
            path,
            f"is {asked!r} on the command line (-c {path[-1]}=...) and not in this file; write it there, or "
            "leave it out"
            if said is None
            else f"is {said!r} in this file and {asked!r} on the command line (-c {path[-1]}=...); leave one "
            "out",
        )
        for path, (asked, said) in given.items()
        if asked is not None and said != asked
    ]
