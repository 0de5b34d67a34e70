"""The network of a cluster: made, or existing."""

from __future__ import annotations

from pydantic import Field

from hyperpod_model.catalog import names
from hyperpod_model.spec_files.spec_model import Items, SpecModel

MAKES_NETWORK_ONLY = ("vpc_cidr", "accelerator_subnet_prefix_length", "isolated")
"""Fields that shape a network we make, and mean nothing for an existing one."""


class NetworkSpec(SpecModel):
    """The network: made in one Availability Zone, or an existing subnet."""

    availability_zone_id: str | None = Field(
        default=None,
        description=(
            "ID of the Availability Zone for the accelerator subnet, such as usw2-az1: the ID, since a "
            "zone's name means another zone in each account. It must be the zone of the capacity (training "
            "plan or reservation). Required unless subnet_ids name an existing network; there it is taken "
            "from the subnet."
        ),
        json_schema_extra={"pattern": f"^{names.ZONE_ID.pattern}$"},
        examples=["usw2-az1"],
    )
    vpc_cidr: str = Field(
        default="10.0.0.0/16",
        description="IPv4 range of the VPC that is made, in CIDR notation. By default 10.0.0.0/16.",
    )
    accelerator_subnet_prefix_length: int = Field(
        default=17,
        description=(
            "Prefix length in bits of the private accelerator subnet that is made inside vpc_cidr: 17 leaves "
            "room for 32763 addresses. By default 17."
        ),
    )
    vpc_id: str | None = Field(
        default=None,
        description=(
            "ID of an existing VPC, with subnet_ids. Needed when a security group or a file system is made "
            "in it. By default a VPC is made."
        ),
        json_schema_extra={"pattern": f"^{names.VPC_ID.pattern}$"},
    )
    subnet_ids: Items[str] | None = Field(
        default=None,
        description=(
            "IDs of existing private subnets for the nodes; the first one gets the file system. EFA traffic "
            "does not cross zones: keep to one zone. By default a subnet is made."
        ),
    )
    security_group_ids: Items[str] | None = Field(
        default=None,
        description=(
            "IDs of existing security groups for the nodes, with subnet_ids. Each must allow all traffic "
            "from and to itself, which EFA requires, and reach TCP 443. Only the rules for a file_system "
            "that is made are added to them. By default a security group is made."
        ),
    )
    http_egress: bool = Field(
        default=False,
        description=(
            "Whether nodes may open connections to TCP 80 besides 443, in the security group that is made. "
            "Scripts that install from package mirrors with apt need it. By default false."
        ),
    )
    isolated: bool = Field(
        default=False,
        description=(
            "Whether the network that is made has no way to the internet: no NAT gateway, and an endpoint "
            "for each AWS service that nodes call. Images and packages then come from registries inside AWS. "
            "By default false."
        ),
    )
    subnet_cidr: str | None = Field(
        default=None,
        description=(
            "IPv4 range of the existing subnet, in CIDR notation, so that the addresses of all nodes can be "
            "counted against it. By default the addresses of an existing subnet are not counted."
        ),
    )

    @property
    def is_existing(self) -> bool:
        """Whether the nodes go into subnets that exist."""
        return self.subnet_ids is not None
