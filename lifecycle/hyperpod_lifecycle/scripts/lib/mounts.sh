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

# takes_writes FOLDER: a file system that hangs must not hang the node. Created and written through one descriptor:
# users who may write here could swap a name for a link before it is opened again.
takes_writes() {
  local probe status=0
  probe=$(timeout 60 python3 -I -c '
import os, sys, tempfile
descriptor, path = tempfile.mkstemp(prefix=".provision-probe.", dir=sys.argv[1])
print(path, flush=True)
os.write(descriptor, b"probe")
os.fsync(descriptor)
os.close(descriptor)
' "$1") || status=$?
  if [[ -n $probe ]]; then
    timeout 60 rm -f "$probe" || status=$?
  fi
  return "$status"
}
