# Loaded by every suite here. A test gets a node of its own: the bundle, files under a folder, stand-ins for system
# programs (NODE_SCRIPTS_BUNDLE and NODE_SCRIPTS_PROGRAMS, from the Python test that starts bats).

setup() {
  export PROVISION_ROOT=$BATS_TEST_TMPDIR/root
  BUNDLE=$BATS_TEST_TMPDIR/bundle
  mkdir -p "$PROVISION_ROOT/etc" "$PROVISION_ROOT/tmp"
  cp -r "$NODE_SCRIPTS_BUNDLE" "$BUNDLE"
  export PROVISION_RETRY_PAUSE=0 PROVISION_SHIPPING_SECONDS=0 STAND_IN_ADDRESSES=10.1.1.2
  FILE=$PROVISION_ROOT/etc/file
}

# provision LINES: runs them as a step of the bundle, with the library loaded.
provision() {
  printf '%s\n' '. "${BASH_SOURCE[0]%/steps/*}/lib/common.sh"' 'FILE=$ROOT/etc/file' "$1" >"$BUNDLE/steps/tried.sh"
  run env PATH="$NODE_SCRIPTS_PROGRAMS" bash "$BUNDLE/steps/tried.sh"
}

succeeds() {
  [ "$status" -eq 0 ] || { printf 'status %s:\n%s\n' "$status" "$output" >&2; return 1; }
}

# fails_with WORDS: in the last line, which is the one that says what to do.
fails_with() {
  local last=${lines[${#lines[@]} - 1]}
  [ "$status" -eq 70 ] && [[ $last == *"FAILED in step 'tried': "*"$1"* ]] ||
    { printf 'status %s, last line: %s\n' "$status" "$last" >&2; return 1; }
}

# lacks LINE PATH: `! grep` alone fails no test.
lacks() {
  if grep -qxF -e "$1" "$2"; then
    printf '%s is in %s\n' "$1" "$2" >&2
    return 1
  fi
}

# holds PATH CONTENT: byte for byte.
holds() {
  printf "$2" | cmp - "$1"
}
