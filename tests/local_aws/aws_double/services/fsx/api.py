"""What the operations of FSx share: the API and what is kept of a region."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from moto.fsx import urls
from moto.fsx.models import fsx_backends
from moto.utilities.utils import get_partition

from aws_double import ACCOUNT
from aws_double.network_view import Place
from aws_double.progress import Progress
from aws_double.service_api import ApiError, Request, ServiceApi, state_of

API = ServiceApi("fsx", invalid="BadRequest")


@dataclass
class FileSystem:
    """A file system.

    Attributes:
        id: Such as ``fs-0123456789abcdef0``.
        region: Its region.
        asked: The request that made it, with what updates changed since.
        vpc_id: VPC of its subnets.
        place: Where its network interfaces are.
        interfaces: Ids of its network interfaces.
        created: When.
        progress: From ``CREATING`` to ``AVAILABLE``.
        deletion: From ``DELETING`` to gone; None while nobody deletes it.
        mount_name: Of a Lustre file system: what clients mount. Never ``fsx``, so that nobody guesses it.
    """

    id: str
    region: str
    asked: dict[str, Any]
    vpc_id: str
    place: Place
    interfaces: list[str]
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    progress: Progress = field(default_factory=lambda: Progress("CREATING", "AVAILABLE"))
    deletion: Progress | None = None
    mount_name: str = field(default_factory=lambda: secrets.token_hex(4))

    @property
    def arn(self) -> str:
        return arn(self.region, f"file-system/{self.id}")

    @property
    def dns_name(self) -> str:
        suffix = "amazonaws.com.cn" if self.region.startswith("cn-") else "amazonaws.com"
        return f"{self.id}.fsx.{self.region}.{suffix}"

    @property
    def lifecycle(self) -> str:
        return self.progress.state if self.deletion is None else self.deletion.state

    @property
    def type(self) -> str:
        return str(self.asked["FileSystemType"])

    @property
    def deployment_type(self) -> str:
        lustre: dict[str, Any] = self.asked.get("LustreConfiguration", {})
        return str(lustre.get("DeploymentType", "SCRATCH_1"))


@dataclass
class Backup:
    """A backup of a file system.

    Attributes:
        id: Such as ``backup-0123456789abcdef0``.
        region: Its region.
        file_system: What ``DescribeFileSystems`` said of the file system then.
        asked: The request that the file system was made with.
        tags: Its tags.
        token: The caller's token, by which the same call again is known.
        progress: From ``CREATING`` to ``AVAILABLE``.
        created: When.
    """

    id: str
    region: str
    file_system: dict[str, Any]
    asked: dict[str, Any]
    tags: list[dict[str, str]]
    token: str | None
    progress: Progress
    created: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def arn(self) -> str:
        return arn(self.region, f"backup/{self.id}")


@dataclass
class Association:
    """A link between a folder of a Lustre file system and a bucket.

    Attributes:
        id: Such as ``dra-0123456789abcdef0``.
        region: Its region.
        asked: The request that made it, with what updates changed since.
        progress: From ``CREATING`` to ``AVAILABLE``.
        created: When.
    """

    id: str
    region: str
    asked: dict[str, Any]
    progress: Progress = field(default_factory=lambda: Progress("CREATING", "AVAILABLE"))
    created: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def arn(self) -> str:
        return arn(self.region, f"association/{self.asked['FileSystemId']}/{self.id}")


@dataclass
class FileSystems:
    """All of a region's FSx."""

    file_systems: dict[str, FileSystem] = field(default_factory=dict)
    backups: dict[str, Backup] = field(default_factory=dict)
    associations: dict[str, Association] = field(default_factory=dict)

    def file_system(self, file_system_id: str) -> FileSystem:
        """Return a file system that is not gone.

        Raises:
            ApiError: If there is none.
        """
        found = self.file_systems.get(file_system_id)
        if found is None or found.lifecycle == "GONE":
            raise ApiError("FileSystemNotFound", f"File system '{file_system_id}' does not exist.")
        return found

    def available(self, file_system_id: str) -> FileSystem:
        """Return a file system that clients can use.

        Raises:
            ApiError: If there is none, or it is not ready.
        """
        found = self.file_system(file_system_id)
        if found.lifecycle != "AVAILABLE":
            raise ApiError("BadRequest", f"File system '{found.id}' is {found.lifecycle}, not AVAILABLE.")
        return found

    def linked(self, file_system_id: str) -> list[Association]:
        """Return the links of a file system."""
        return [one for one in self.associations.values() if one.asked["FileSystemId"] == file_system_id]


def region_of(request: Request) -> FileSystems:
    """Return what the region of a request has."""
    return file_systems_of(request.region)


def file_systems_of(region: str) -> FileSystems:
    """Return what a region has."""
    found: FileSystems = state_of(fsx_backends, region, FileSystems)
    return found


def new_id(kind: str) -> str:
    """Return an id such as ``fs-0123456789abcdef0`` of kind ``fs``."""
    return f"{kind}-{secrets.token_hex(8)}0"


def arn(region: str, resource: str) -> str:
    """Return the ARN of a resource of FSx."""
    return f"arn:{get_partition(region)}:fsx:{region}:{ACCOUNT}:{resource}"


def take_over() -> None:
    """Let the API answer at moto's address of FSx."""
    urls.url_paths["{0}/$"] = API.answer


def tagged(tags: list[dict[str, str]] | None) -> dict[str, Any]:
    """Return the member ``Tags`` of an answer, which FSx leaves out where there are none."""
    return {"Tags": list(tags)} if tags else {}
