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

# point_at_controller: once it answers; sets address.
point_at_controller() {
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
}

start_worker() {
  point_at_controller
  ensure_service slurmd
  log "slurmd runs, with the configuration of the controller $address"
}

# The commands on a login node use the configuration that slurmd fetches at its start, although it ends then: slurm.conf has
# no such node.
start_login() {
  point_at_controller
  if ! slurmctld_answers; then
    mark_for_restart slurmd
  fi
  if [[ -e $RESTARTS_FOLDER/slurmd ]]; then
    systemctl daemon-reload
    start_or_say enable slurmd
    systemctl restart slurmd || true
    rm -f "$RESTARTS_FOLDER/slurmd"
  fi
  if ! retry 6 5 slurmctld_answers; then
    fail "Slurm's commands have no configuration on this node" "read journalctl -u slurmd: it fetches it from $address"
  fi
  log "Slurm's commands have the configuration of the controller $address"
}

if ! scripts_configure_slurm; then
  if [[ -f $SLURM_CONF_FILE ]] && is_slurmctld_running; then
    tell_slurmctld
  fi
  skip "HyperPod starts Slurm"
fi
case $(slurm_role) in
  controller) start_controller ;;
  login) start_login ;;
  worker) start_worker ;;
  *)
    fail "the group $(node_fact instance_group) of this node has no role in Slurm" \
      "give the group a node type in the specification, and upload the scripts again"
    ;;
esac
