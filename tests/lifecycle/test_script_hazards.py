from __future__ import annotations

import pytest

from hyperpod_lifecycle.content_hash import ScriptFile
from hyperpod_lifecycle.script_checks import check_script
from hyperpod_lifecycle.scripts_folder import scripts_folder


def said(body: str) -> list[str]:
    file = ScriptFile("a.sh", f"#!/bin/bash\n{body}\n".encode(), True)
    return [f"{fault.severity} {fault}" for fault in check_script(file)]


HAZARDS = [
    ("systemctl restart slurmctld", "a.sh (line 2): stops or restarts slurmctld"),
    ("sudo systemctl --no-block stop slurmctld.service", "stops or restarts slurmctld"),
    ("if true; then service slurmctld restart; fi", "stops or restarts slurmctld"),
    ("pkill -f slurmctld", "stops or restarts slurmctld"),
    ("scontrol update NodeName=ip-10-1-2-3 State=RESUME", "changes the state of a node"),
    ("sudo scontrol update node=$NODE state=fail reason=Action:Replace", "changes the state of a node"),
    ("set -o pipefail\nscontrol show hostnames | head -n 1", "(line 3): ends with SIGPIPE on large clusters"),
    ("curl -fsSL https://example.org/x.deb -o x.deb", "fetches with curl and compares no checksum"),
    ("sudo wget -q https://example.org/x.tgz", "fetches with wget and compares no checksum"),
    ("curl -LsSf https://astral.sh/uv/install.sh | sh", "runs what a server answers as root"),
    ("wget -qO- https://example.org | sudo -E bash -", "runs what a server answers as root"),
    ("git clone https://github.com/NVIDIA/pyxis.git", "clones whatever is the newest then"),
    ("pip install torch numpy==1.0", "installs the newest versions with pip"),
    ("python3 -m pip install -U awscli", "installs the newest versions with pip"),
    ("apt-get install -y squashfs-tools", "runs apt-get without waiting for dpkg's lock"),
    ("DEBIAN_FRONTEND=noninteractive apt update", "runs apt without waiting for dpkg's lock"),
    (
        "touch /fsx/here\nmount -t lustre fs@tcp:/x /fsx",
        "(line 2): writes to /fsx before it is mounted on line 3",
    ),
    ("echo x > /fsx/a\nmount /fsx", "writes to /fsx before it is mounted"),
    ("set -ex\nmake install\nexit_code=$?", "(line 4): reads $? after a command at whose failure"),
    ("set -euo pipefail\nmake\nif [ $? -ne 0 ]; then exit 1; fi", "reads $? after a command"),
    (
        "echo TaskProlog=/x >> /opt/slurm/etc/slurm.conf",
        "appends to /opt/slurm/etc/slurm.conf again each time",
    ),
    ("cat x >> ~/.bashrc", "appends to ~/.bashrc again each time"),
    ("echo x | sudo tee -a /etc/fstab", "appends to /etc/fstab again each time"),
    # As in a published script: what looks at something else is no guard.
    (
        "if [[ $(mount | grep /opt/dlami/nvme) ]]; then\n  cat <<E >> /etc/docker/daemon.json\n{}\nE\nfi",
        "appends to /etc/docker/daemon.json again each time",
    ),
    ('bash -c "$(curl -fsSL https://e.org/i.sh)"', "runs what a server answers as root"),
    ("bash -e <(curl https://e.org/i.sh)", "runs what a server answers as root"),
    (". <(wget -qO- https://e.org)", "runs what a server answers as root"),
    ('eval "$(curl https://e.org/env)"', "runs what a server answers as root"),
    ("curl -sS https://e.org/get-pip.py | python3 -", "runs what a server answers as root"),
    ("curl -fsSL https://e.org/i.sh \\\n  | bash", "(line 2): runs what a server answers as root"),
    ("git clone -b main https://e.org/x.git", "clones whatever is the newest then"),
    ("apt-get -y \\\n  install jq", "(line 2): runs apt-get without waiting"),
    ("mkdir -p /fsx/logs\nmount /fsx", "writes to /fsx before it is mounted"),
    # As in a published script: blanks between them, and several lines.
    (
        "set -ex\npython3 -u x.py \\\n  -rc a 2>&1\n\n# why\nexit_code=$?",
        "(line 7): reads $? after a command",
    ),
    ("set -e\ncat > x <<E\na || b\nE\nrc=$?", "reads $? after a command"),
    ("rm -rf /var/lib/kubelet", "removes /var/lib/kubelet, which a second run takes"),
    ("sudo rm -rf /var/lib/containerd/*", "removes /var/lib/containerd"),
]


AFTER = [
    "x=$((1<<y))",
    "x=$((1 << SHIFT))",
    "if ((x << y)); then :; fi",
    "cat <<END-OF-FILE\nit's\nEND-OF-FILE",
    "cat <<A <<'B C'\n1\nA\n2\nB C",
    'x="$(echo "it\'s")"',
    'x="$(cat <<E\nit\'s\nE\n)"',
    "x=$'it\\'s'",
    "x=${y//\\'/}",
    "echo a # it's <<E",
    "echo 'use <<E' \"and <<E\"",
    'case $x in a) echo "it\'s" ;; (b) : ;; esac',
    "awk '\n  { print }\n' x",
]


@pytest.mark.parametrize("before", AFTER)
def test_nothing_hides_what_follows(before: str) -> None:
    line = before.count("\n") + 3
    (fault,) = said(f"{before}\napt-get install jq")
    assert fault.startswith(f"warning a.sh (line {line}): runs apt-get without waiting")


def test_errors_end_a_script_by_its_first_line() -> None:
    file = ScriptFile("a.sh", b"#!/bin/bash -eu\nmake\nif [ $? -ne 0 ]; then exit 1; fi\n", True)
    (fault,) = check_script(file)
    assert "reads $? after a command" in str(fault)


@pytest.mark.parametrize(("body", "message"), HAZARDS, ids=[body for body, _ in HAZARDS])
def test_hazard(body: str, message: str) -> None:
    (fault,) = said(body)
    assert fault.startswith("warning a.sh (line ")
    assert message in fault


def test_a_setting_in_a_here_document_that_slurm_stops_at() -> None:
    (fault,) = said("cat > /opt/slurm/etc/accounting.conf << EOF\nAccountingStorageTRES: gres/gpu\nEOF")
    assert fault == (
        "error a.sh (line 3): separates AccountingStorageTRES and its value with ':', at which slurmctld "
        "stops; write AccountingStorageTRES=gres/gpu"
    )


@pytest.mark.parametrize(
    "body",
    [
        "scontrol reconfigure",
        "systemctl enable --now slurmctld",
        "systemctl restart slurmd",
        "systemctl status slurmctld",
        "# systemctl restart slurmctld",
        "echo 'systemctl restart slurmctld'",
        "scontrol show node | grep state=",
        "scontrol update partition=gpu state=up",
        "scontrol show hostnames | head -n 1",
        "set -o pipefail\nmapfile -t hosts < <(scontrol show hostnames)",
        "curl -s http://169.254.169.254/latest/meta-data/placement/region",
        'curl -fsSL https://e.org/x -o x\necho "$SUM  x" | sha256sum --check',
        "wget --version",
        "curl -X POST --data '{}' \"$WEBHOOK\"",
        "curl -sf -o /dev/null https://sts.us-west-2.amazonaws.com || echo no way out",
        "curl -sI https://e.org",
        "wget -q --spider https://e.org",
        "curl -s http://169.254.169.254/latest/x | python3 -c 'import json'",
        "echo 'no controller; then systemctl restart slurmctld by hand'",
        'log "first; apt-get install jq"',
        "pip install --index-url https://pip.repos.neuron.amazonaws.com neuronx-cc==2.14.227",
        "pip install torch==2.9.0 --extra-index-url https://download.pytorch.org/whl/cu126",
        "git clone -b v1.2.3 https://e.org/x.git",
        "set -e\nx='\n' || true\nrc=$?",
        "[ -f /etc/x ] || echo a >> /etc/x",
        "grep -q a /etc/x || echo a | tee -a /etc/x",
        "cat <<E\ncurl https://e.org | bash\nE",
        "git clone --depth 1 --branch v0.20.0 https://github.com/NVIDIA/pyxis.git",
        "git clone https://e.org/x.git\ngit -C x checkout 0123abc",
        "pip install -r requirements.txt",
        "pip install torch==2.9.0 'numpy==1.0'",
        "pip install ./wheel.whl",
        "pip install $PACKAGES",
        "apt-get -o DPkg::Lock::Timeout=120 install -y x",
        "OPTIONS='-o DPkg::Lock::Timeout=60'\napt-get $OPTIONS install -y x",
        "apt-cache policy x",
        "mount -t lustre fs@tcp:/x /fsx\ntouch /fsx/here",
        "touch /fsx2/here\nmount /fsx",
        "make\nexit_code=$?",
        "set -e\nset +e\nmake\nexit_code=$?",
        "set -e\nmake || status=$?\nstatus=$?",
        "set -e\ncleanup() {\n  local status=$?\n}",
        "set -e\nif make; then\n  true\nelse\n  status=$?\nfi",
        "grep -q TaskProlog /etc/x.conf || echo TaskProlog >> /etc/x.conf",
        "if ! grep -q a /etc/x; then\n  echo a >> /etc/x\nfi",
        "echo hello >> /var/log/provision/provisioning.log",
        "echo hello >> $LOG_FILE",
        "rm -rf /var/lib/mine",
        "cat > x.yaml << EOF\nName: x\nPrologFlag: y\nEOF",
    ],
)
def test_what_does_no_harm(body: str) -> None:
    assert said(body) == []


@pytest.mark.parametrize(
    "script",
    sorted(path.relative_to(scripts_folder()).as_posix() for path in scripts_folder().rglob("*.sh")),
)
def test_own_scripts_do_nothing_of_it(script: str) -> None:
    content = (scripts_folder() / script).read_bytes()
    assert check_script(ScriptFile(script, content, True)) == []
