#!/bin/bash
# Images of containerd and volumes of pods (kubelet) on the large volume, before kubelet takes the first pod.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../lib/common.sh
. "$here/lib/common.sh"
# shellcheck source=../lib/volumes.sh
. "$here/lib/volumes.sh"

KUBELET=/var/lib/kubelet

# copy_contents OLD NEW: NEW holds what OLD did, completely or not at all. What a former run copied stays.
copy_contents() {
  local old=$ROOT$1 new=$ROOT$2 error
  if [[ -d $new ]]; then
    return 0
  fi
  remove_left_overs "$new"
  if [[ ! -d $old ]]; then
    ensure_directory "$new"
  elif ! error=$({ cp -a "$old" "$new$NEW_FILE.copy" && mv -T "$new$NEW_FILE.copy" "$new"; } 2>&1); then
    cannot "$new" "copy $old to" "$error"
  fi
}

# exec_start_of SERVICE: how the image starts it, without our drop-in.
exec_start_of() {
  local folder
  for folder in /etc/systemd/system /usr/lib/systemd/system /lib/systemd/system; do
    if [[ -f $ROOT$folder/$1.service ]]; then
      awk -F= '/^ExecStart=./ { sub("^ExecStart=", ""); last = $0 } END { print last }' "$ROOT$folder/$1.service"
      return 0
    fi
  done
}

use_containerd() {
  local start drop_in=$ROOT/etc/systemd/system/containerd.service.d
  start=$(exec_start_of containerd)
  if [[ -z $start ]]; then
    fail "no containerd.service says how containerd starts" "take a HyperPod image for EKS"
  elif [[ $start == *\\ ]]; then
    fail "containerd.service starts containerd in several lines" "name the folder of its data in its own configuration"
  fi
  # A flag, since it wins over the configuration file, which the image writes anew. The images that came with the node
  # are moved along: pods need one of them.
  if [[ ! -d $ROOT$1/containerd ]]; then
    systemctl stop containerd
  fi
  copy_contents /var/lib/containerd "$1/containerd"
  ensure_directory "$drop_in"
  ensure_file_of containerd "$drop_in/10-hyperpod.conf" <<EOF
[Service]
$(waits_for "$1")
ExecStart=
ExecStart=$start --root $1/containerd
EOF
  ensure_service containerd
  log "containerd keeps images in $1/containerd"
}

use_kubelet() {
  local folder=$ROOT$KUBELET
  if [[ -L $folder ]]; then
    ensure_link "$ROOT$1/kubelet" "$folder"
    return 0
  fi
  copy_contents "$KUBELET" "$1/kubelet"
  if [[ -d $folder ]]; then
    rm -rf --one-file-system "$folder"
  fi
  ensure_link "$ROOT$1/kubelet" "$folder"
  log "kubelet keeps volumes of pods in $1/kubelet"
}

if [[ $(parameter orchestrator) != eks ]]; then
  skip "no pods run here"
fi
# Kubernetes does not expect its state to vanish: the volume that survives a stop of the machine comes first.
volume=$(large_volume "$SECOND_VOLUME" "$INSTANCE_STORE")
if [[ -z $volume ]]; then
  note_health warning pods "there is no large volume: images of containers will fill the root volume"
  exit 0
fi
if systemctl is-active --quiet kubelet; then
  if [[ -L $ROOT$KUBELET ]]; then
    skip "kubelet runs, with its data on $(readlink "$ROOT$KUBELET")"
  fi
  note_health warning pods "kubelet runs already, so that its data stay on the root volume: replace the node to move them"
  exit 0
fi
use_containerd "$volume"
use_kubelet "$volume"
note_health ok pods "images and volumes of pods are kept on $volume"
