"""Jobs from files."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from hyperpod_model.faults import Fault, InvalidInputError, refuse
from hyperpod_model.job_spec.job import JobSpec
from hyperpod_model.spec_files.field_faults import field_faults, has_field_faults, partial
from hyperpod_model.spec_files.yaml_document import YamlDocument

_SUBJECT = "job"


class LoadedJob(NamedTuple):
    """A job as it was read.

    Attributes:
        spec: The specification.
        findings: Warnings of what is probably not meant, each with its line.
        document: The file, which knows the line of each field.
    """

    spec: JobSpec
    findings: tuple[Fault, ...]
    document: YamlDocument


def load_job(path: str | PathLike[str]) -> JobSpec:
    """Read a job from a YAML or JSON file.

    Args:
        path: The file.

    Raises:
        InvalidInputError: With all faults of the file, each with its path and line.
    """
    return read_job(path).spec


def read_job(path: str | PathLike[str]) -> LoadedJob:
    """Read a job and what is worth knowing about it from a YAML or JSON file.

    Args:
        path: The file.

    Raises:
        InvalidInputError: With all faults of the file, each with its path and line.
    """
    return parse_job(_content(Path(path)), name=str(path))


def parse_job(content: bytes, *, name: str) -> LoadedJob:
    """Read a job from the content of a file.

    Args:
        content: YAML or JSON.
        name: What messages call the file.

    Raises:
        InvalidInputError: With all faults of the content, each with its path and line.
    """
    document = YamlDocument(content, subject=_SUBJECT)
    faults = list(document.faults)
    data = document.data
    if data is None and not faults:
        faults.append(
            Fault((), f"{name} is empty; describe a job, at least name, image, instance_type, script")
        )
    elif data is not None and not isinstance(data, Mapping):
        faults.append(Fault((), "must be a mapping of fields at the top, such as 'name: llama-ddp'", line=1))
    if not isinstance(data, Mapping):
        raise InvalidInputError(faults)
    if "kind" in data and "apiVersion" in data:
        message = (
            f"is a Kubernetes manifest, {data['kind']!r}, and no job specification; write what it should "
            "do as a "
            "job specification, from which the manifest is rendered"
        )
        raise InvalidInputError([Fault((), message, line=1)])
    found, spec = _read(data, document)
    faults += [
        fault if fault.line is not None else fault._replace(line=_line(fault, document))
        for fault in found
        if fault.path not in document.unread
    ]
    warnings = refuse(sorted(faults, key=lambda fault: 0 if fault.line is None else fault.line))
    if spec is None:
        raise InvalidInputError(faults)
    return LoadedJob(spec, warnings, document)


def _read(data: Mapping[str, Any], document: YamlDocument) -> tuple[list[Fault], JobSpec | None]:
    try:
        spec = JobSpec.model_validate(data)
    except ValidationError as error:
        faults = field_faults(error, JobSpec, document)
        if has_field_faults(error):
            faults += partial(JobSpec, data, error).faults()
        return faults, None
    return spec.faults(), spec


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        message = f"there is no job file {str(file)!r}; give the path of a YAML or JSON file"
    except IsADirectoryError:
        message = f"{str(file)!r} is a folder; give the path of a YAML or JSON file in it"
    except OSError as error:
        message = f"cannot read the job file {str(file)!r}: {error.strerror}"
    raise InvalidInputError([Fault((), message)])


def _line(fault: Fault, document: YamlDocument) -> int | None:
    return document.line(fault.path) if fault.path else None
