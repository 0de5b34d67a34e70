#!/bin/bash
# Packages of the system. The package's own steps install none by default: what nodes need is in the AMI.

# apt_install PACKAGE=VERSION...: waits for another process's lock, finishes what a killed run left half installed.
apt_install() {
  local wanted missing=()
  for wanted in "$@"; do
    if [[ $wanted != *=* ]]; then
      fail "got the package $wanted without a version" "pin it: $wanted=VERSION (apt-cache policy $wanted)"
    fi
    if [[ $(version_of_package "${wanted%%=*}") != "${wanted#*=}" ]]; then
      missing+=("$wanted")
    fi
  done
  if ((${#missing[@]} == 0)); then
    return 0
  fi
  local said
  said=$(retry 9 5 dpkg_configure) || explain_apt "$said"
  said=$(retry 5 10 apt_get update) || explain_apt "$said"
  said=$(retry 3 10 apt_get install -y --no-install-recommends --allow-downgrades "${missing[@]}") || explain_apt "$said"
  log "installed ${missing[*]}"
}

# What is installed and configured, and nothing else, counts.
version_of_package() {
  local said
  said=$(dpkg-query -W -f '${db:Status-Status} ${Version}' "$1" 2>/dev/null) || return 0
  if [[ $said == "installed "* ]]; then
    printf '%s\n' "${said#installed }"
  fi
}

# Unlike apt, dpkg does not wait for its lock at all. A file of /etc that was changed here stays: nobody answers a question.
dpkg_configure() {
  timeout 1800 dpkg --force-confdef --force-confold --configure -a 2>&1
}

# The option covers the lock of dpkg, and retry that of the lists, which apt does not wait for.
apt_get() {
  timeout 1800 apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 \
    -o DPkg::Options::=--force-confdef -o DPkg::Options::=--force-confold "$@" 2>&1
}

explain_apt() {
  local last=${1##*$'\n'}
  case $1 in
    *'Could not get lock'* | *'is another process using it'* | *'lock-frontend'* | *'was locked by another process'*)
      last=$(grep -F process <<<"$1" | tail -n 1)
      fail "another process kept the lock of apt: $last" "see who holds it (fuser /var/lib/dpkg/lock-frontend), then run again"
      ;;
    *'Could not resolve'* | *'Temporary failure resolving'*)
      fail "cannot resolve the package mirror: $last" "see whether the node has name resolution (resolvectl status) and a way to the mirror"
      ;;
    *'No space left'* | *'enough free space'*)
      fail "no space for packages: $last" "free space on the root volume (df -h /)"
      ;;
    *) fail "apt failed: $last" "read the lines above; the default mirrors of Ubuntu answer on TCP 80, which nodes may be denied" ;;
  esac
}
