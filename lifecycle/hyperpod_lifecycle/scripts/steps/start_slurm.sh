#!/bin/bash
# Starts the daemon of this node's role. A slurmctld that runs is never restarted: jobs and replacements hang on it.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../lib/common.sh
. "$here/lib/common.sh"
# shellcheck source=../lib/slurm.sh
. "$here/lib/slurm.sh"

slurmctld_answers() {
  timeout 30 scontrol ping >/dev/null
}

start_controller() {
  if is_slurmctld_running; then
    tell_slurmctld
  else
    # What it reads at its start need not be told.
    ensure_absent "$RECONFIGURE_MARK"
    ensure_service slurmctld
  fi
  if ! retry 12 5 slurmctld_answers; then
    fail "slurmctld runs and does not answer" "read /var/log/slurm/slurmctld.log and journalctl -u slurmctld"
  fi
  log "slurmctld answers"
}

# Login nodes run slurmd too, which fetches the configuration for their commands.
start_node() {
  local address
  address=$(controller_address)
  if ! SLURM_CONF_SERVER=$address retry 30 10 slurmctld_answers; then
    fail "the controller $address does not answer on TCP 6817" \
      "see whether its lifecycle scripts ended, and that the security groups let nodes reach each other"
  fi
  ensure_directory "$ROOT/etc/systemd/system/slurmd.service.d"
  ensure_file_of slurmd "$ROOT/etc/systemd/system/slurmd.service.d/10-hyperpod.conf" <<EOF
# The unit of HyperPod's images takes its options from here.
[Service]
Environment="SLURMD_OPTIONS=--conf-server $address"
EOF
  ensure_service slurmd
  log "slurmd runs, with the configuration of the controller $address"
}

if ! scripts_configure_slurm; then
  if [[ -f $SLURM_CONF_FILE ]] && is_slurmctld_running; then
    tell_slurmctld
  fi
  skip "HyperPod starts Slurm"
fi
case $(slurm_role) in
  controller) start_controller ;;
  login | worker) start_node ;;
  *)
    fail "the group $(node_fact instance_group) of this node has no role in Slurm" \
      "give the group a node type in the specification, and upload the scripts again"
    ;;
esac
