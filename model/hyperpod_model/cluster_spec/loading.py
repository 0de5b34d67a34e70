"""Clusters from files: a specification, or a ``CreateCluster`` request."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import ValidationError

from hyperpod_model.cluster_spec.cluster import ClusterSpec
from hyperpod_model.cluster_spec.create_cluster_request import import_request, is_request
from hyperpod_model.cluster_spec.field_faults import field_faults, has_field_faults, partial
from hyperpod_model.cluster_spec.yaml_document import YamlDocument
from hyperpod_model.faults import Fault, InvalidInputError, refuse

Kind = Literal["spec", "create-cluster-request"]


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
    return faults, None if spec is None else _with_absolute_folder(spec, folder, faults)


def _with_absolute_folder(spec: ClusterSpec, folder: Path, faults: list[Fault]) -> ClusterSpec:
    scripts = spec.lifecycle_scripts
    if scripts.folder is None:
        return spec
    absolute = (folder / scripts.folder).resolve()
    if absolute.is_file():
        message = f"{scripts.folder!r} is a file; give the folder that holds it, and its name as entry_point"
        faults.append(Fault(("lifecycle_scripts", "folder"), message))
    elif not absolute.is_dir():
        faults.append(
            Fault(
                ("lifecycle_scripts", "folder"),
                f"there is no folder {scripts.folder!r} in {str(folder)!r}; the path is relative to this "
                "file",
            )
        )
    moved = scripts.model_copy(update={"folder": str(absolute)})
    return spec.model_copy(update={"lifecycle_scripts": moved})


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
