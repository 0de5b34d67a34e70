#!/bin/bash
# Containers of Slurm jobs: images and container data of Docker and enroot on the large volume, and pyxis, which runs a
# job in a container, in Slurm. What is not in the image of the node is left out: nothing is installed.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../lib/common.sh
. "$here/lib/common.sh"
# shellcheck source=../lib/slurm.sh
. "$here/lib/slurm.sh"
# shellcheck source=../lib/users.sh
. "$here/lib/users.sh"
# shellcheck source=../lib/volumes.sh
. "$here/lib/volumes.sh"

use_docker() {
  local daemon=$ROOT/etc/docker/daemon.json content
  if ! content=$(python3 -I -S "$LIBRARY/merged_json.py" "$daemon" "data-root=$1/docker" 2>&1); then
    fail "cannot read $daemon: ${content##*$'\n'}" "it must be a JSON object: mend it, and run again"
  fi
  ensure_directory "$ROOT$1/docker" 0710
  ensure_directory "$ROOT$1/docker-tmp"
  ensure_directory "${daemon%/*}"
  ensure_file_of docker "$daemon" <<<"$content"
  ensure_directory "$ROOT/etc/systemd/system/docker.service.d"
  ensure_file_of docker "$ROOT/etc/systemd/system/docker.service.d/10-hyperpod.conf" <<EOF
[Service]
$(waits_for "$1")
Environment="DOCKER_TMPDIR=$1/docker-tmp"
EOF
  ensure_service docker
  log "Docker keeps its data in $1/docker"
}

# Users of others than the file, such as a directory service's, make their folders themselves.
user_numbers() {
  local file
  file=$(parameter users_file)
  if [[ -n $file && -e $ROOT$file ]]; then
    read_users "$file" | cut -d , -f 2
  fi
}

# ensure_users_own PATH UID: a folder of that user's alone, within one where all may make names and nobody may replace another's.
ensure_users_own() {
  local path=$1 uid=$2 owner
  mkdir --mode=0700 "$path" 2>/dev/null || true
  owner=$(stat -c %u "$path")
  if [[ -d $path && ! -L $path && ($owner == 0 || $owner == "$EUID") ]]; then
    chown --no-dereference "$uid:$uid" "$path"
  elif [[ ! -d $path || -L $path || $owner != "$uid" ]]; then
    not_theirs+="${not_theirs:+; }${path#"$ROOT"} belongs to user $owner"
  fi
}

use_enroot() {
  local conf=$ROOT/etc/enroot/enroot.conf uid
  ensure_directory "$ROOT$1/enroot"
  # Each user makes folders there, and nobody takes away another's.
  ensure_directory "$ROOT$1/enroot/cache" 1777
  ensure_directory "$ROOT$1/enroot/data" 1777
  ensure_directory "$ROOT$1/enroot/tmp" 1777
  # Before somebody else makes a folder of that name, and writes to the images and containers of its user.
  for uid in $(user_numbers); do
    ensure_users_own "$ROOT$1/enroot/cache/user-$uid" "$uid"
    ensure_users_own "$ROOT$1/enroot/data/user-$uid" "$uid"
  done
  # The first line of a name counts, so others' of the same names are set aside.
  if [[ -f $conf ]]; then
    awk '
      /^# BEGIN hyperpod/ { inside = 1 }
      !inside && /^[ \t]*ENROOT_(CACHE|DATA|TEMP)_PATH[ \t=]/ { print "#hyperpod# " $0; next }
      { print }
      /^# END hyperpod/ { inside = 0 }
    ' "$conf" | ensure_file "$conf" "$(mode_of "$conf")"
  fi
  # shellcheck disable=SC2016 # enroot expands it for each user
  printf 'ENROOT_CACHE_PATH %s/user-$(id -u)\nENROOT_DATA_PATH %s/user-$(id -u)\nENROOT_TEMP_PATH %s\n' \
    "$1/enroot/cache" "$1/enroot/data" "$1/enroot/tmp" | ensure_block "$conf" containers
  log "enroot keeps its data in $1/enroot"
}

# Nodes get plugstack.conf from the controller, so it is written there, where slurm.conf is.
use_pyxis() {
  local plugin
  for plugin in /opt/slurm/lib/slurm/spank_pyxis.so /usr/local/lib/slurm/spank_pyxis.so /usr/lib/x86_64-linux-gnu/slurm/spank_pyxis.so; do
    if [[ -f $ROOT$plugin ]]; then
      ensure_pyxis "$plugin"
      return 0
    fi
  done
}

ensure_pyxis() {
  local file=$SLURM_ETC/plugstack.conf
  if grep -qE '^[^#]*spank_pyxis\.so|^include .*pyxis' "$file" 2>/dev/null && ! grep -qF '# BEGIN hyperpod pyxis' "$file"; then
    log "pyxis is in $file already"
    return 0
  fi
  # Optional: on a node without it a job without a container still runs.
  if ! grep -qxF "optional $1" "$file" 2>/dev/null; then
    ensure_file "$RECONFIGURE_MARK" </dev/null
  fi
  ensure_block "$file" pyxis <<<"optional $1"
  log "pyxis is in $file"
}

if [[ $(parameter orchestrator) == eks ]]; then
  skip "Kubernetes runs the containers"
fi
not_theirs=""
# Images can be fetched again, so the fast volume that a stop of the machine empties comes first.
volume=$(large_volume "$INSTANCE_STORE" "$SECOND_VOLUME")
if [[ -n $volume ]]; then
  if command -v dockerd >/dev/null; then
    use_docker "$volume"
  fi
  if [[ -d $ROOT/etc/enroot ]]; then
    use_enroot "$volume"
  fi
  if [[ -n $not_theirs ]]; then
    note_health warning containers "containers are kept on $volume; remove what others made in a user's name: $not_theirs"
  else
    note_health ok containers "containers are kept on $volume"
  fi
elif command -v dockerd >/dev/null || [[ -d $ROOT/etc/enroot ]]; then
  note_health warning containers "there is no large volume: images of containers will fill the root volume"
fi
if [[ -f $SLURM_CONF_FILE ]]; then
  use_pyxis
fi
