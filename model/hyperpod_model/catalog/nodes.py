"""What is where on a HyperPod node, and the words that Slurm and HyperPod exchange about it."""

from __future__ import annotations

from hyperpod_model.catalog._tables import table

_TABLE = table("nodes")

RESOURCE_CONFIG_PATH: str = _TABLE["resource_config_path"]
"""The cluster as HyperPod wrote it down: groups, instances, addresses."""

RESOURCE_CONFIG_PATH_VARIABLE: str = _TABLE["resource_config_path_variable"]
"""Environment variable that names another place of the file while lifecycle scripts run."""

PROVISIONING_PARAMETERS_FILE: str = _TABLE["provisioning_parameters_file"]
"""Tells the scripts of a classic Slurm cluster what each group is.

Anywhere below the scripts' prefix it makes an update fail where the API configures Slurm.
"""

PROVISIONING_PARAMETERS_VERSION: str = _TABLE["provisioning_parameters_version"]
WORKLOAD_MANAGER: str = _TABLE["workload_manager"]

REBOOT_REASON: str = _TABLE["repair_reasons"]["reboot"]
"""Exact reason, case included, that makes HyperPod reboot a node set to ``fail``."""

REPLACE_REASON: str = _TABLE["repair_reasons"]["replace"]
"""Exact reason, case included, that makes HyperPod replace a node set to ``fail``."""

AUTO_RESUME_OPTION: str = _TABLE["auto_resume_option"]
"""On each ``srun`` step of an exclusive allocation; an option of HyperPod's Slurm only."""

DEEP_HEALTH_CHECK_RESERVATION: str = _TABLE["deep_health_check"]["reservation"]
DEEP_HEALTH_CHECK_PARTITION: str = _TABLE["deep_health_check"]["partition"]
DEEP_HEALTH_CHECK_FEATURE: str = _TABLE["deep_health_check"]["feature"]

TIERED_CHECKPOINTING_LOG_FOLDER_IN_CONTAINER: str = _TABLE["tiered_checkpointing_log_folders"]["container"]
TIERED_CHECKPOINTING_LOG_FOLDER_ON_HOST: str = _TABLE["tiered_checkpointing_log_folders"]["host"]
"""Differs from the folder in the container: ``logs``, not ``log``."""
