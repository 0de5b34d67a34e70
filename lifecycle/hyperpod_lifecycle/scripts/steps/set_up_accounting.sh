#!/bin/bash
# A database on the controller that keeps what jobs used: set up before slurmctld starts for the first time, since a
# slurmctld that has run without it files its jobs under an id that the database does not know.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../lib/common.sh
. "$here/lib/common.sh"
# shellcheck source=../lib/slurm.sh
. "$here/lib/slurm.sh"

DATABASE=slurm_acct_db

if ! scripts_configure_slurm || [[ $(parameter slurm accounting) != true ]]; then
  skip "no accounting"
fi
if [[ $(slurm_role) != controller ]]; then
  skip "accounting is kept on the controller"
fi
for program in mysql sacctmgr; do
  if ! command -v "$program" >/dev/null; then
    fail "there is no $program on this node" "take a HyperPod image for Slurm, which has it, or leave accounting out"
  fi
done

ensure_service mariadb
# slurmdbd is let in by who it is, through the socket of the machine: there is no password that could leak.
database_is_there() {
  timeout 60 mysql --protocol=socket --user=root <<EOF
CREATE DATABASE IF NOT EXISTS $DATABASE;
CREATE USER IF NOT EXISTS 'slurm'@'localhost' IDENTIFIED VIA unix_socket;
GRANT ALL ON $DATABASE.* TO 'slurm'@'localhost';
EOF
}
if ! retry 6 5 database_is_there; then
  fail "MariaDB does not make the database $DATABASE" "read the lines above and journalctl -u mariadb"
fi

ensure_file_of slurmdbd "$SLURM_ETC/slurmdbd.conf" 0600 <<EOF
# hyperpod: the accounting of this controller
AuthType=auth/munge
DbdHost=localhost
DbdPort=6819
SlurmUser=slurm
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageLoc=$DATABASE
StorageUser=slurm
LogFile=/var/log/slurm/slurmdbd.log
EOF
# It refuses a file that others own.
chown slurm:slurm "$SLURM_ETC/slurmdbd.conf"
ensure_service slurmdbd

slurmdbd_answers() {
  timeout 60 sacctmgr --noheader --immediate list cluster >/dev/null
}
if ! retry 12 5 slurmdbd_answers; then
  fail "slurmdbd runs and does not answer" "read /var/log/slurm/slurmdbd.log: munge, or the access to the database"
fi
log "slurmdbd answers and keeps $DATABASE"
