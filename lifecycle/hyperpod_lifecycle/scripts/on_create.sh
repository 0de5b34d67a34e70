#!/bin/bash
# Entry point for clusters whose Slurm these scripts configure: it runs first and does everything, on every new node, on every
# replacement and after a software update. Any number of runs leaves the node in the same state.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib/common.sh
. "$here/lib/common.sh"

run_steps identify_node mount_file_systems check_file_systems check_efa
run_steps add_users share_ssh_keys store_containers
run_steps configure_slurm guard_topology set_up_accounting start_slurm
run_steps install_job_tools measure_jobs ship_logs keep_scripts summarize_health
log "done: this node is provisioned"
