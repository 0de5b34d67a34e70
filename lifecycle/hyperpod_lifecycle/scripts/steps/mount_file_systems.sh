#!/bin/bash
# Mounts the file systems that parameters.json lists for this node's group, now and at every boot. Where HyperPod mounts
# them itself, none are listed.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../lib/common.sh
. "$here/lib/common.sh"

FSTAB=$ROOT/etc/fstab

# A node that boots must not hang on a file system that is away (nofail); but with nofail alone nothing waits for it, and slurmd
# would take a job that then writes to the root volume.
BOOT_OPTIONS=_netdev,nofail,x-systemd.before=slurmd.service
# Lustre needs flock for locks that hold between nodes.
LUSTRE_OPTIONS=noatime,flock,$BOOT_OPTIONS
OPENZFS_OPTIONS=noatime,nfsvers=4.2,nconnect=16,rsize=1048576,wsize=1048576,timeo=600,$BOOT_OPTIONS

# With the name resolved first: mount says "connection timed out" for any reason.
resolves() {
  getent hosts "$1" >/dev/null
}

mount_now() {
  local path=$1
  is_mounted "$path" && return 0
  said=$(timeout 120 mount "$path" 2>&1) || true
  is_mounted "$path"
}

explain_mount() {
  local path=$1 name=$2
  case $said in
    *'unknown filesystem type'*)
      fail "this node cannot mount $path: ${said##*: }" "use a HyperPod AMI, which has the clients for Lustre and NFS"
      ;;
    *)
      fail "cannot mount $path from $name: ${said:-no answer}" \
        "let the node reach it: TCP 988 and 1018-1023 for Lustre, 2049 for OpenZFS, in the security groups of both"
      ;;
  esac
}

# ensure_mounted TYPE NAME SOURCE PATH OPTIONS
ensure_mounted() {
  local type=$1 name=$2 source=$3 path=$4 options=$5 mounted
  mounted=$(mounted_on "$path")
  if [[ -n $mounted ]]; then
    # Lustre shows the server's address in place of its name, and NFS its version in the type. The volume of each OpenZFS file
    # system may have the same path, and the mount name of each scratch file system is 'fsx'.
    if [[ ${mounted%% *} != "$type"* || ${mounted##*:} != "${source##*:}" ]] ||
      [[ $type == nfs && ${mounted#* } != "$source" ]]; then
      fail "something else is mounted on $path: $mounted, and $source should be" \
        "unmount it, or give the file system another mount path in the specification"
    fi
  elif [[ -L $ROOT$path ]]; then
    fail "$path is a link to $(readlink "$ROOT$path"), not a folder to mount on" \
      "remove the link, or give the file system another mount path in the specification"
  fi
  ensure_directory "$ROOT$path"
  if [[ -z $mounted && -n $(ls -A "$ROOT$path") ]]; then
    warn "$path holds files of the root volume, which the mount hides"
  fi
  ensure_block "$FSTAB" "$path" <<<"$source $path $type $options 0 0"
  if [[ -z $mounted ]]; then
    if ! retry 8 5 resolves "$name"; then
      fail "cannot resolve $name" \
        "see whether the node has name resolution (resolvectl status), and the VPC DNS support and hostnames"
    fi
    said=""
    if ! retry 8 5 mount_now "$path"; then
      explain_mount "$path" "$name"
    fi
  fi
  check_mounted "$path"
}

wanted=$(parameter mounts "$(node_fact instance_group)")
if [[ -z $wanted ]]; then
  skip "this group mounts no file system by script"
fi
paths=""
while IFS= read -r file_system; do
  # A line each of type, DNS name, what the server calls it, and the path.
  fields=$(python3 -I -S "$here/lib/file_system.py" "$file_system" 2>&1) ||
    fail "cannot tell what to mount: ${fields##*$'\n'}" "correct mounts in the cluster's specification"
  mapfile -t field <<<"$fields"
  case ${field[0]} in
    lustre)
      ensure_mounted lustre "${field[1]}" "${field[1]}@tcp:/${field[2]}" "${field[3]}" "$LUSTRE_OPTIONS"
      ;;
    openzfs)
      ensure_mounted nfs "${field[1]}" "${field[1]}:${field[2]}" "${field[3]}" "$OPENZFS_OPTIONS"
      ;;
  esac
  paths+=${paths:+, }${field[3]}
done <<<"$wanted"
note_health ok mounts "mounted now and at every boot: $paths"
