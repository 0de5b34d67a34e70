#!/bin/bash
# For what settles by itself, such as name resolution while a service restarts.

MOST_PAUSE_SECONDS=60

# retry ATTEMPTS PAUSE COMMAND...: until it succeeds, at most ATTEMPTS times. Pauses for PAUSE seconds, then for twice as
# long each time, up to a minute. COMMAND runs without `set -e`: let it end with the check that counts.
retry() {
  local attempts=${PROVISION_RETRY_ATTEMPTS:-$1} pause=$2 attempt status
  shift 2
  for ((attempt = 1; ; attempt++)); do
    if "$@"; then
      return 0
    else
      status=$?
    fi
    if ((attempt >= attempts)); then
      return "$status"
    fi
    # Up to half as long again at random: all nodes of a cluster start together and would ask together.
    sleep "${PROVISION_RETRY_PAUSE:-$((pause + RANDOM % (pause / 2 + 1)))}"
    pause=$((pause * 2 < MOST_PAUSE_SECONDS ? pause * 2 : MOST_PAUSE_SECONDS))
  done
}

# fetch_verified URL SHA256 PATH: a file of https:// or s3:// whose checksum is known beforehand. Nothing by default.
fetch_verified() {
  local url=$1 sha256=$2 path=$3 new=$3$NEW_FILE.fetched
  if holds_sha256 "$path" "$sha256"; then
    return 0
  fi
  remove_left_overs "$path"
  if ! retry 6 5 download "$url" "$new"; then
    rm -f "$new"
    fail "cannot fetch $url" "see whether the node reaches it (name resolution, endpoints, security groups), or put it in S3"
  fi
  if ! holds_sha256 "$new" "$sha256"; then
    rm -f "$new"
    fail "$url is not what was pinned: its SHA-256 is not $sha256" "find out who changed it before pinning another"
  fi
  mv -fT "$new" "$path"
}

holds_sha256() {
  [[ -f $1 ]] && sha256sum --check --status - <<<"$2  $1"
}

download() {
  case $1 in
    s3://*) timeout 900 aws s3 cp --only-show-errors "$1" "$2" ;;
    https://*) timeout 900 python3 -I -S "$LIBRARY/fetch.py" "$1" "$2" ;;
    *) fail "cannot fetch $1" "name an https:// or s3:// address" ;;
  esac
}
