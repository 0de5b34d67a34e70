#!/bin/bash
# The large volumes of a node: container images fill the root volume. Sourced after common.sh.

INSTANCE_STORE=/opt/dlami/nvme
SECOND_VOLUME=/opt/sagemaker

# waits_for VOLUME: the line of a service that keeps its data there. At a boot the volume may come later than the service,
# which would begin anew on the root volume; where it does not come, systemd tries again.
waits_for() {
  printf "ExecStartPre=/usr/bin/timeout 60 /bin/sh -c 'until mountpoint -q %s; do sleep 1; done'\n" "$1"
}

# large_volume FOLDER...: the first that is mounted; nothing where none is. Waits for what is being mounted.
large_volume() {
  local folder group
  if systemctl is-enabled --quiet dlami-nvme 2>/dev/null && ! retry 6 5 is_mounted "$INSTANCE_STORE"; then
    warn "nothing is mounted on $INSTANCE_STORE, which dlami-nvme.service mounts: read journalctl -u dlami-nvme"
  fi
  group=$(node_fact instance_group)
  if [[ -n $group ]] && grep -qxF -e "$group" <<<"$(parameter second_volume_groups)" &&
    ! retry 6 5 is_mounted "$SECOND_VOLUME"; then
    warn "nothing is mounted on $SECOND_VOLUME, where this group has its second volume: look at lsblk on the node"
  fi
  for folder in "$@"; do
    if is_mounted "$folder"; then
      printf '%s\n' "$folder"
      return 0
    fi
  done
}
