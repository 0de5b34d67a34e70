"""EC2 of the double: moto's, made to refuse what EC2 refuses and to keep what moto drops."""

from . import (
    endpoints,
    flow_logs,
    gateways,
    network_acls,
    routes,
    rules,
    security_groups,
    subnets,
    vpcs,
)


def install() -> None:
    """Put the double's EC2 in the place of moto's; once is enough, twice does no harm."""
    for part in (
        endpoints,
        flow_logs,
        gateways,
        network_acls,
        routes,
        rules,
        security_groups,
        subnets,
        vpcs,
    ):
        part.install()
