#!/bin/bash
# File systems of the node.

# is_mounted PATH
is_mounted() {
  path=$1 awk '$2 == ENVIRON["path"] { found = 1 } END { exit !found }' "$MOUNTS_FILE"
}

# mounted_on PATH: type and source of what is on top there, or nothing.
mounted_on() {
  path=$1 awk '$2 == ENVIRON["path"] { last = $3 " " $1 } END { if (last != "") print last }' "$MOUNTS_FILE"
}

# takes_writes FOLDER: a file system that hangs must not hang the node. Written through the descriptor that made the file,
# and without a name by then: users who may write here could swap a name for a link, and a killed run leaves nothing.
takes_writes() {
  timeout 60 python3 -I -S -c '
import os, sys, tempfile
descriptor, path = tempfile.mkstemp(prefix=".provision-probe.", dir=sys.argv[1])
os.unlink(path)
os.write(descriptor, b"probe")
os.fsync(descriptor)
' "$1"
}

# check_mounted PATH: waits until PATH is mounted and takes writes, else ends the step.
check_mounted() {
  local path=$1
  if ! retry 12 5 is_mounted "$path"; then
    fail "nothing is mounted on $path" \
      "look at the instance group's file systems, at TCP 988 and 1018-1023 in the security groups, and at dmesg"
  fi
  if ! retry 3 5 takes_writes "$ROOT$path"; then
    fail "$path is mounted and takes no writes" \
      "look for a read-only mount, a full file system or a root squash of the file system"
  fi
  log "$path is mounted and takes writes"
}
