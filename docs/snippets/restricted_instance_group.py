"""Two groups for the service's own training jobs, which share a file system."""

from hyperpod_constructs.restricted_instance_group import (
    RestrictedEnvironment,
    RestrictedFileSystem,
    RestrictedInstanceGroup,
)

groups = [
    RestrictedInstanceGroup(name=name, instance_type="ml.p5.48xlarge", instance_count=4)
    for name in ("fine-tuning", "evaluation")
]
shared = RestrictedEnvironment(
    file_system=RestrictedFileSystem(storage_capacity_gib=12000, throughput_mbps_per_tib=250)
)
