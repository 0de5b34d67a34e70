#!/bin/bash
# Entry point for clusters whose Slurm HyperPod configures itself: it runs last, on every new node, on every
# replacement and after a software update. Any number of runs leaves the node in the same state.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PROVISION_STEP=on_init_complete
# shellcheck source=lib/common.sh
. "$here/lib/common.sh"

only_one_run_at_a_time
run_step "$here/steps/identify_node.sh"
run_step "$here/steps/check_file_systems.sh"
log "done: this node is provisioned"
