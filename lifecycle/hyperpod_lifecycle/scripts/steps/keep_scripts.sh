#!/bin/bash
# Keeps this bundle under /opt/hyperpod/scripts: HyperPod runs it from a temporary folder, and an operator may want to run
# a step again, such as after the file of users has changed.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../lib/common.sh
. "$here/lib/common.sh"

kept=$STATE_FOLDER/scripts
if [[ $here -ef $kept ]]; then
  skip "these are the kept scripts"
fi
version=$(cd "$here" && find . -type f ! -name '*.pyc' -print0 | sort -z | xargs -0 sha256sum | sha256sum)
versioned=$STATE_FOLDER/bundles/${version:0:16}
if [[ ! -d $versioned ]]; then
  ensure_directory "${versioned%/*}"
  remove_left_overs "$versioned"
  if ! said=$({ cp -r "$here" "$versioned$NEW_FILE.copy" && mv -T "$versioned$NEW_FILE.copy" "$versioned"; } 2>&1); then
    remove_left_overs "$versioned"
    cannot "$versioned" "copy the scripts to" "$said"
  fi
fi
ensure_link "bundles/${version:0:16}" "$kept"
# Others than this one belong to earlier versions of the scripts.
for other in "${versioned%/*}"/*; do
  if [[ ! $other -ef $versioned ]]; then
    rm -rf "$other"
  fi
done
log "these scripts are kept in $kept"
