#!/bin/bash
# Slurm on this node. Sourced after common.sh by the steps that need it.

# shellcheck disable=SC2034 # the constants are read by the steps
{
  SLURM_FOLDER=$ROOT/opt/slurm
  SLURM_ETC=$SLURM_FOLDER/etc
  SLURM_CONF_FILE=$SLURM_ETC/slurm.conf
  INCLUDED_FILE=accounting.conf
}
# What a running slurmctld has not been told yet: a file, so that a killed run is not the end of it.
RECONFIGURE_MARK=$STATE_FOLDER/slurm-reconfigure

if [[ -z $ROOT ]]; then
  export PATH=$PATH:/opt/slurm/bin:/opt/slurm/sbin
fi

# slurm_role: controller, login or worker; nothing where this node's group has no role in a Slurm of the scripts'.
slurm_role() {
  local group
  group=$(node_fact instance_group)
  if [[ -z $group ]]; then
    return 0
  elif [[ $group == "$(parameter slurm controller_group)" ]]; then
    printf 'controller\n'
  elif [[ $group == "$(parameter slurm login_group)" ]]; then
    printf 'login\n'
  elif grep -qxF -e "$group" <<<"$(parameter slurm worker_groups)"; then
    printf 'worker\n'
  fi
}

scripts_configure_slurm() {
  [[ $(parameter slurm mode) == lifecycle ]]
}

is_slurmctld_running() {
  systemctl is-active --quiet slurmctld
}

# controller_address: where slurmctld is, by resource_config.json.
controller_address() {
  local group addresses
  group=$(required_parameter slurm controller_group)
  if ! addresses=$(python3 -I -S "$LIBRARY/group_addresses.py" "$RESOURCE_CONFIG" "$group" 2>&1); then
    fail "cannot read $RESOURCE_CONFIG: ${addresses##*$'\n'}" "HyperPod writes it before any lifecycle script: read its log"
  fi
  if [[ -z $addresses ]]; then
    fail "the group $group of the controller has no instance in $RESOURCE_CONFIG" \
      "see whether the controller was created: the other groups need it"
  fi
  printf '%s\n' "${addresses%%$'\n'*}"
}

# ensure_slurm_file PATH LINES: makes PATH, which a running slurmctld may have read, hold LINES. Its owner stays: slurmctld
# runs as another user than root, and may be the only one to read it.
ensure_slurm_file() {
  local path=$1 content=$2
  if [[ -f $path && $(cat "$path") == "$content" && -z $(tail -c 1 "$path") ]]; then
    return 0
  fi
  ensure_file "$RECONFIGURE_MARK" </dev/null
  printf '%s' "${content:+$content$'\n'}" | ensure_file "$path" "$(mode_of "$path")" "$(owner_of "$path")"
}

# repairs_in_progress: the nodes that HyperPod is replacing, rebooting or testing, or '?' where slurmctld does not say.
repairs_in_progress() {
  local nodes
  if ! nodes=$(timeout 60 scontrol show node --oneliner 2>&1); then
    printf '?\n'
    return 0
  fi
  awk '
    /Reason=Action:(Replace|Reboot)/ || /State=[^ ]*(FAIL|REBOOT)/ || /SageMakerDeepHealthCheck:InProgress/ {
      for (field = 1; field <= NF; field++) if ($field ~ /^NodeName=/) print substr($field, 10)
    }
  ' <<<"$nodes" | paste -sd ' '
}

# tell_slurmctld: a running one reads its files again, unless HyperPod is at work on nodes: that would bring its own states
# of these nodes into disorder. It is never restarted.
tell_slurmctld() {
  local busy said
  if [[ ! -e $RECONFIGURE_MARK ]]; then
    return 0
  fi
  busy=$(repairs_in_progress)
  if [[ $busy == '?' ]]; then
    warn "slurmctld does not answer, so nobody knows whether a node is being replaced: it is not told of its new files"
    return 0
  elif [[ -n $busy ]]; then
    warn "HyperPod is at work on $busy: slurmctld is not told of its new files; the next run does, or scontrol reconfigure"
    return 0
  fi
  if ! said=$(timeout 120 scontrol reconfigure 2>&1); then
    fail "slurmctld refuses its new files: ${said##*$'\n'}" "read /var/log/slurm/slurmctld.log, mend what was set, and run again"
  fi
  ensure_absent "$RECONFIGURE_MARK"
  log "slurmctld has read its files again"
}
