"""What checks call other fields, in the words of whoever wrote a request or template.

Checks name fields by the properties of the constructs; those who wrote a request never saw these.
"""

from __future__ import annotations

import re
from typing import Final

from hyperpod_model.faults import Fault

_REQUEST_TERMS: Final = {
    "instance_count": "InstanceCount",
    "instance_type": "InstanceType",
    "slurm_node_type": "SlurmConfig.NodeType",
    "node_provisioning_mode": "NodeProvisioningMode",
    "on_create": "OnCreate",
    "on_init_complete": "OnInitComplete",
    "source_s3_uri": "SourceS3Uri",
    "deep_health_checks": "OnStartDeepHealthChecks",
    "secondary_volume_size_gib": "VolumeSizeInGB",
    "root_volume_kms_key": "VolumeKmsKeyId",
    "unlisted_instance_types": "unlisted_instance_types of a cluster spec",
    "instance_types": "InstanceRequirements.InstanceTypes",
    "instance_groups": "InstanceGroups",
    "restricted_instance_groups": "RestrictedInstanceGroups",
    "restricted_environment": "RestrictedInstanceGroupsConfig",
    "file_system": "EnvironmentConfig",
    "maximum_batch_size": "MaximumBatchSize",
    "image_id": "ImageId",
    "tags": "Tags",
}


def in_request_terms(fault: Fault) -> str:
    """Return a fault's message with the field names of a ``CreateCluster`` request.

    The fault's own field is not named: who reports the fault says where it is.

    Args:
        fault: What a check found.
    """
    message = fault.message
    for name, member in _REQUEST_TERMS.items():
        message = re.sub(rf"\b{name}\b", member, message)
    return message.replace(f" ({fault.path[-1]})", "") if fault.path else message
