#!/bin/bash
# Entry point for clusters whose Slurm HyperPod configures itself, and for EKS: it runs last, on every new node, on every
# replacement and after a software update. Any number of runs leaves the node in the same state.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib/common.sh
. "$here/lib/common.sh"

run_steps identify_node mount_file_systems check_file_systems check_efa
run_steps add_users share_ssh_keys store_containers store_pods
run_steps guard_topology start_slurm
run_steps install_job_tools measure_jobs ship_logs keep_scripts summarize_health
log "done: this node is provisioned"
