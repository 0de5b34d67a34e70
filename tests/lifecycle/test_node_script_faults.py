"""What goes wrong on nodes: each is handled, or ends in a last line of the log that names step and remedy."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import pwd
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from node_scripts.machine import AGENT_CONTROL, FSX, HOMES, OPENZFS, Scenario
from node_scripts.node import NEEDED, Node, last_line
from node_scripts.scenarios import SCENARIOS
from node_scripts.trees import differences, read_tree

from hyperpod_lifecycle.scripts_folder import scripts_folder

pytestmark = pytest.mark.needs_system(*NEEDED)


def scenario(name: str) -> Scenario:
    (found,) = (each for each in SCENARIOS if each.name == name)
    return found


def can_mount() -> bool:
    unshare = shutil.which("unshare")
    if unshare is None:
        return False
    tried = [unshare, "-rm", "sh", "-c", "mount -t tmpfs none /mnt"]
    return subprocess.run(tried, capture_output=True, check=False).returncode == 0


FULL_DISKS = ["stand-in for cat", *(["real"] if can_mount() else [])]
"""A real, small file system as well, where this machine lets whoever runs the tests mount one."""

# Boots without the file system, and lets slurmd take no job before it is there or given up.
AT_BOOT = "_netdev,nofail,x-systemd.before=slurmd.service"

WORKER = scenario("worker, HyperPod configures Slurm")
MOUNTS = scenario("login node whose scripts mount")


@pytest.fixture
def worker(tmp_path: Path) -> Node:
    """A worker whose first step has run, so that any other step can."""
    return identified(Node(tmp_path, WORKER))


@pytest.fixture
def login(tmp_path: Path) -> Node:
    """A login node whose scripts mount its file systems, identified as well."""
    return identified(Node(tmp_path, MOUNTS))


def identified(node: Node) -> Node:
    assert node.run("steps/identify_node.sh").returncode == 0
    return node


def set_parameters(node: Node, **changes: Any) -> None:
    node.set_parameters({**(node.scenario.parameters or {}), **changes})


def break_down(node: Node, what: str, content: str = "") -> None:
    node.write(f"/var/lib/stand-ins/{what}", content)


def mend(node: Node, what: str) -> None:
    node.path(f"/var/lib/stand-ins/{what}").unlink()


def succeeds(node: Node, step: str, **extra: str) -> str:
    result = node.run(f"steps/{step}.sh", **extra)
    assert (result.returncode, result.stderr) == (0, ""), result.stdout
    return result.stdout


def fails(node: Node, step: str, problem: str, remedy: str, **extra: str) -> None:
    result = node.run(f"steps/{step}.sh", **extra)
    assert result.returncode == 70, result.stdout
    line = last_line(result)
    assert f" {step}: FAILED in step '{step}': " in line
    said, _, way_out = line.partition("; remedy: ")
    assert problem in said, line
    assert remedy in way_out, line
    assert node.read("/var/log/provision/provisioning.log").splitlines()[-1] == line


class TestMounts:
    def test_are_mounted_now_and_at_every_boot(self, login: Node) -> None:
        output = succeeds(login, "mount_file_systems")
        assert "/fsx is mounted and takes writes" in output
        assert login.read("/etc/fstab").splitlines() == [
            # The line that had no end is a line of its own.
            "LABEL=cloudimg-rootfs / ext4 discard,errors=remount-ro 0 1",
            "# BEGIN hyperpod /fsx",
            f"{FSX}@tcp:/abcdefgh /fsx lustre noatime,flock,{AT_BOOT} 0 0",
            "# END hyperpod /fsx",
            "# BEGIN hyperpod /home",
            f"{OPENZFS}:/fsx /home nfs noatime,nfsvers=4.2,nconnect=16,rsize=1048576,wsize=1048576,timeo=600,"
            f"{AT_BOOT} 0 0",
            "# END hyperpod /home",
        ]
        assert login.read("/proc/self/mounts").count(" /fsx ") == 1

    def test_another_file_system_takes_the_place_in_fstab(self, login: Node) -> None:
        succeeds(login, "mount_file_systems")
        login.write("/proc/self/mounts", "/dev/root / ext4 rw 0 0\n")
        other = {"type": "lustre", "dns_name": "fs-2.fsx", "mount_name": "zyx", "mount_path": "/fsx"}
        set_parameters(login, mounts={"login": [other]})
        succeeds(login, "mount_file_systems")
        fstab = login.read("/etc/fstab")
        assert "fs-2.fsx@tcp:/zyx /fsx lustre" in fstab
        assert FSX not in fstab

    def test_name_resolution_is_down(self, login: Node) -> None:
        break_down(login, "dns-down")
        fails(login, "mount_file_systems", f"cannot resolve {FSX}", "resolvectl status")
        mend(login, "dns-down")
        succeeds(login, "mount_file_systems")

    def test_name_resolution_comes_back(self, login: Node) -> None:
        break_down(login, "dns-down")
        login.replace("sleep", '#!/bin/sh\nrm -f "$PROVISION_ROOT/var/lib/stand-ins/dns-down"\n')
        succeeds(login, "mount_file_systems")

    def test_file_system_does_not_answer(self, login: Node) -> None:
        break_down(login, "file-systems-away")
        fails(login, "mount_file_systems", "cannot mount /fsx from fs-0", "TCP 988 and 1018-1023")

    def test_a_reason_of_several_lines_is_one_last_line(self, login: Node) -> None:
        """As mount.lustre gives them."""
        login.replace(
            "mount",
            "#!/bin/sh\nprintf 'mount.lustre: mount a at /fsx failed: Input/output error\\n"
            "Is the MGS running?\\n' >&2\nexit 5\n",
        )
        problem = "/fsx failed: Input/output error; Is the MGS running?"
        fails(login, "mount_file_systems", problem, "TCP 988 and 1018-1023")
        assert login.read("/var/log/provision/provisioning.log").count("FAILED in step") == 1

    def test_file_system_answers_late(self, login: Node) -> None:
        break_down(login, "file-systems-away")
        login.replace("sleep", '#!/bin/sh\nrm -f "$PROVISION_ROOT/var/lib/stand-ins/file-systems-away"\n')
        succeeds(login, "mount_file_systems")

    def test_no_client(self, login: Node) -> None:
        break_down(login, "no-lustre-client")
        fails(login, "mount_file_systems", "cannot mount /fsx: unknown filesystem type", "HyperPod AMI")

    def test_something_else_is_mounted_there(self, login: Node) -> None:
        login.write("/proc/self/mounts", "/dev/nvme1n1 /fsx ext4 rw 0 0\n")
        fails(
            login, "mount_file_systems", "something else is mounted on /fsx: ext4 /dev/nvme1n1", "unmount it"
        )
        assert "hyperpod" not in login.read("/etc/fstab")

    def test_another_lustre_is_mounted_there(self, login: Node) -> None:
        login.write("/proc/self/mounts", "10.1.9.9@tcp:/other /fsx lustre rw 0 0\n")
        fails(login, "mount_file_systems", "something else is mounted on /fsx: lustre", "another mount path")

    def test_the_same_volume_of_another_openzfs_is_mounted_there(self, login: Node) -> None:
        set_parameters(login, mounts={"login": [HOMES]})
        login.write("/proc/self/mounts", "fs-2.fsx:/fsx /home nfs4 rw 0 0\n")
        fails(
            login, "mount_file_systems", "something else is mounted on /home: nfs4 fs-2.fsx:/fsx", "unmount"
        )
        login.write("/proc/self/mounts", f"{OPENZFS}:/fsx /home nfs4 rw 0 0\n")
        succeeds(login, "mount_file_systems")

    def test_a_link_is_in_the_way(self, login: Node) -> None:
        login.path("/fsx").symlink_to("/opt/sagemaker")
        fails(login, "mount_file_systems", "/fsx is a link to /opt/sagemaker", "remove the link")

    def test_a_file_is_in_the_way(self, login: Node) -> None:
        login.write("/fsx", "")
        fails(login, "mount_file_systems", "cannot make the folder", "something else is in the way")

    def test_what_is_open_to_all_users_stays_so(self, login: Node) -> None:
        login.path("/fsx").mkdir(mode=0o755)
        login.path("/fsx").chmod(0o1777)
        succeeds(login, "mount_file_systems")
        assert stat.S_IMODE(login.path("/fsx").stat().st_mode) == 0o1777

    def test_hidden_files_are_told(self, login: Node) -> None:
        login.write("/fsx/old", "")
        assert "WARNING: /fsx holds files of the root volume" in succeeds(login, "mount_file_systems")

    def test_fstab_is_a_link(self, login: Node) -> None:
        login.path("/etc/fstab").rename(login.path("/etc/fstab.real"))
        login.path("/etc/fstab").symlink_to("fstab.real")
        succeeds(login, "mount_file_systems")
        assert login.path("/etc/fstab").is_symlink()
        assert "lustre" in login.read("/etc/fstab.real")

    @pytest.mark.parametrize(
        ("change", "problem"),
        [
            ({"mount_path": "/fsx 0 0\n/dev/sda /"}, "mount_path of a file system of type lustre cannot be"),
            ({"mount_path": "/fsx/../etc"}, "mount_path of a file system of type lustre cannot be"),
            ({"dns_name": "-o"}, "dns_name of a file system of type lustre cannot be '-o'"),
            ({"mount_name": None}, "mount_name of a file system of type lustre cannot be None"),
            ({"type": "ext4"}, "type must be one of lustre, openzfs, got 'ext4'"),
        ],
    )
    def test_parameters_that_are_no_file_system(
        self, login: Node, change: dict[str, Any], problem: str
    ) -> None:
        lustre = {"type": "lustre", "dns_name": FSX, "mount_name": "abc", "mount_path": "/fsx"}
        set_parameters(login, mounts={"login": [{**lustre, **change}]})
        fails(login, "mount_file_systems", problem, "correct mounts")
        assert login.read("/etc/fstab") == MOUNTS.files["/etc/fstab"]

    def test_mounted_by_hyperpod_after_a_while(self, worker: Node) -> None:
        mounts = worker.read("/proc/self/mounts")
        worker.write("/proc/self/mounts", "/dev/root / ext4 rw 0 0\n")
        worker.write("/mounts", mounts)
        worker.replace("sleep", '#!/bin/sh\ncp "$PROVISION_ROOT/mounts" "$PROVISION_ROOT/proc/self/mounts"\n')
        succeeds(worker, "check_file_systems")


class TestUsers:
    ACCOUNTS = (
        "alice:x:2001:2001::/fsx/alice:/bin/bash\n",
        "bob:x:2002:2002::/fsx/bob:/bin/bash\n",
    )

    def users(self, node: Node, content: str | bytes) -> None:
        path = node.path("/fsx/hyperpod/users.csv")
        path.write_bytes(content.encode() if isinstance(content, str) else content)

    def test_have_the_same_number_and_a_home_everywhere(self, worker: Node) -> None:
        succeeds(worker, "add_users")
        assert worker.read("/etc/passwd").endswith("".join(self.ACCOUNTS))
        home = worker.path("/fsx/alice")
        assert stat.S_IMODE(home.stat().st_mode) == 0o700
        assert (home / ".bashrc").is_file()
        assert "2001:2001 /fsx/alice" in worker.read("/var/lib/stand-ins/owners")

    @pytest.mark.parametrize(
        "content",
        [
            b"alice,2001,/fsx/alice\r\nbob,2002,/fsx/bob\r\n",
            b"alice,2001,/fsx/alice\nbob,2002,/fsx/bob",
            b"\xef\xbb\xbf# name,uid,home\r\n\r\n alice , 2001 , /fsx/alice \r\nbob,2002,/fsx/bob\r\n",
            b"alice,2001,/fsx/alice\rbob,2002,/fsx/bob",
        ],
        ids=["carriage returns", "no last line end", "byte order mark, comment, blanks", "old Mac"],
    )
    def test_whatever_the_editor(self, worker: Node, content: bytes) -> None:
        self.users(worker, content)
        succeeds(worker, "add_users")
        assert worker.read("/etc/passwd").endswith("".join(self.ACCOUNTS))
        assert sorted(path.name for path in worker.path("/fsx").iterdir()) == ["alice", "bob", "hyperpod"]

    def test_who_is_there_already_stays(self, worker: Node) -> None:
        worker.write("/etc/passwd", worker.read("/etc/passwd") + self.ACCOUNTS[0])
        worker.write("/fsx/alice/thesis.txt", "precious")
        succeeds(worker, "add_users")
        assert worker.read("/etc/passwd").count("alice") == 2
        assert worker.read("/fsx/alice/thesis.txt") == "precious"
        assert not worker.path("/fsx/alice/.bashrc").exists()

    def test_a_home_that_moves(self, worker: Node) -> None:
        succeeds(worker, "add_users")
        self.users(worker, "alice,2001,/home/alice\n")
        succeeds(worker, "add_users")
        assert "alice:x:2001:2001::/home/alice:/bin/bash\n" in worker.read("/etc/passwd")
        assert "bob" in worker.read("/etc/passwd"), "who is no longer in the file stays"

    @pytest.mark.parametrize(
        ("content", "problem"),
        [
            ("alice;2001;/fsx/alice", "line 1 needs NAME,UID,HOME, got 'alice;2001;/fsx/alice'"),
            ("-Alice,2001,/fsx/alice", "line 1: '-Alice' is no user name"),
            ("alice,0,/fsx/alice", "the number of alice must be 1001 to 59999, got '0'"),
            ("alice,1e4,/fsx/alice", "the number of alice must be 1001 to 59999, got '1e4'"),
            ("alice,2001,/fsx/../etc", "the home of alice must be a folder such as /fsx/alice"),
            ("alice,2001,/", "the home of alice must be a folder"),
            ("alice,2001,/fsx/a b", "the home of alice must be a folder"),
            ("alice,2001,/fsx/a\nalice,2002,/fsx/b", "line 2: alice is there twice"),
            ("alice,2001,/fsx/a\nbob,2001,/fsx/b", "line 2: bob has the number of alice, 2001"),
            ("alice,2001,/fsx/a\nbob,2002,/fsx/a", "line 2: bob has the home of alice, /fsx/a"),
            ("a b,1,x\nalice,2,y", "line 2"),
            ("alice,2001,/fsx/a/b\nbob,2002,/fsx/a", "the home of alice lies in that of bob, /fsx/a"),
            (b"alice,2001,/fsx/al\xff", "it is no text in UTF-8"),
        ],
    )
    def test_a_file_that_is_not_right_adds_nobody(
        self, worker: Node, content: str | bytes, problem: str
    ) -> None:
        self.users(worker, content)
        before = worker.read("/etc/passwd")
        fails(worker, "add_users", problem, "correct it and run again")
        assert worker.read("/etc/passwd") == before

    def test_homes_beside_each_other_with_like_names(self, worker: Node) -> None:
        self.users(worker, "alice,2001,/fsx/a\nbob,2002,/fsx/ab\n")
        succeeds(worker, "add_users")

    def test_a_folder_in_place_of_the_file(self, worker: Node) -> None:
        file = worker.path("/fsx/hyperpod/users.csv")
        file.unlink()
        file.mkdir()
        fails(worker, "add_users", "/fsx/hyperpod/users.csv is not right: Is a directory", "correct it")

    @pytest.mark.parametrize("path", ["/fsx/hyperpod/users.csv", "/fsx/hyperpod"])
    def test_a_file_that_anybody_can_write_adds_nobody(self, worker: Node, path: str) -> None:
        worker.path(path).chmod(0o777)
        fails(worker, "add_users", f"{path} can be written by others than root", "correct it")
        assert "alice" not in worker.read("/etc/passwd")

    @pytest.mark.parametrize(
        ("passwd", "group", "problem"),
        [
            ("alice:x:1500:1500::/fsx/alice:/bin/bash\n", "", "the user alice has number 1500 on this node"),
            ("carol:x:2001:2001::/home/carol:/bin/bash\n", "", "number 2001 of alice belongs to carol"),
            ("", "alice:x:1500:\n", "the group alice has number 1500 on this node, and needs 2001"),
        ],
    )
    def test_a_node_that_has_others(self, worker: Node, passwd: str, group: str, problem: str) -> None:
        worker.write("/etc/passwd", worker.read("/etc/passwd") + passwd)
        worker.write("/etc/group", worker.read("/etc/group") + group)
        fails(worker, "add_users", problem, "")

    def test_killed_between_group_and_user(self, worker: Node) -> None:
        worker.write("/etc/group", worker.read("/etc/group") + "alice:x:2001:\n")
        succeeds(worker, "add_users")
        assert self.ACCOUNTS[0] in worker.read("/etc/passwd")

    @pytest.mark.parametrize(
        ("number", "name"),
        [("02001", "zoe"), ("2001 ", "admin"), ("2001", "sudo"), ("2001", "docker"), ("2001", "root")],
    )
    def test_no_number_in_two_ways_and_no_group_that_may_become_root(
        self, worker: Node, number: str, name: str
    ) -> None:
        self.users(worker, f"{name},{number},/fsx/{name}\nbob,2001,/fsx/bob\n")
        fails(worker, "add_users", f"line 1: {'the number of zoe' if name == 'zoe' else name}", "correct it")
        assert name not in worker.read("/etc/passwd").replace("root:x:0:0:root:/root", "")

    def test_a_number_that_a_group_has(self, worker: Node) -> None:
        worker.write("/etc/group", worker.read("/etc/group") + "render:x:2001:\n")
        fails(worker, "add_users", "number 2001 of alice is that of the group render", "another number")

    def left_out(self, node: Node, why: str) -> None:
        """Nobody but alice goes without, and the node comes up."""
        output = succeeds(node, "add_users")
        assert (
            f"WARNING: users of /fsx/hyperpod/users.csv on this node: 1; left out: alice, since {why}"
            in output
        )
        assert "alice" not in node.read("/etc/passwd")
        assert "bob" in node.read("/etc/passwd")
        output = succeeds(node, "share_ssh_keys")
        assert f"; no keys of alice: {why}" in output
        assert node.path("/fsx/bob/.ssh/id_ed25519").exists()

    def test_a_home_that_is_a_link(self, worker: Node) -> None:
        worker.path("/fsx/alice").symlink_to("/etc")
        self.left_out(worker, "/fsx/alice is a link")

    def test_a_home_that_is_a_file(self, worker: Node) -> None:
        worker.write("/fsx/alice", "")
        self.left_out(worker, "/fsx/alice is no folder")

    def test_a_home_that_somebody_else_made(self, worker: Node) -> None:
        """Who may make folders beside the homes, waits there with a .bashrc for the next user."""
        if os.geteuid() != 0:
            return  # only root can give a folder away
        worker.path("/fsx/alice").mkdir()
        os.chown(worker.path("/fsx/alice"), 2002, 2002)
        self.left_out(worker, "/fsx/alice belongs to user 2002")

    def test_a_home_where_anybody_could_put_a_link(self, worker: Node) -> None:
        worker.path("/fsx/open").mkdir()
        worker.path("/fsx/open").chmod(0o777)
        self.users(worker, "alice,2001,/fsx/open/alice\nbob,2002,/fsx/bob\n")
        self.left_out(worker, "/fsx/open can be written by others than root: run chmod +t on it")
        assert list(worker.path("/fsx/open").iterdir()) == []

    def test_homes_in_a_folder_that_is_open_and_sticky(self, worker: Node) -> None:
        worker.path("/fsx").chmod(0o1777)
        succeeds(worker, "add_users")
        assert stat.S_IMODE(worker.path("/fsx/alice").stat().st_mode) == 0o700

    def test_what_somebody_planted_where_a_home_is_made(self, worker: Node) -> None:
        """In an open folder, under the name that the home has while it is filled."""
        worker.path("/fsx").chmod(0o1777)
        victim = worker.path("/etc/victim")
        victim.mkdir()
        worker.path("/fsx/alice.hyperpod-new.i-0workers2").symlink_to(victim)
        succeeds(worker, "add_users")
        assert list(victim.iterdir()) == []
        assert (worker.path("/fsx/alice") / ".bashrc").is_file()

    def test_a_folder_above_that_anybody_can_write_adds_nobody(self, worker: Node) -> None:
        """Who can rename the file's folder can put another in its place."""
        worker.path("/fsx").chmod(0o777)
        fails(worker, "add_users", "/fsx can be written by others than root: run chmod +t", "correct it")
        assert "alice" not in worker.read("/etc/passwd")

    def test_a_home_that_another_node_makes_at_the_same_time(self, worker: Node) -> None:
        """The stand-in for chown lets the other node win: its home appears just before this node's."""
        real = worker.programs / "chown"
        target = os.readlink(real)
        worker.replace(
            "chown",
            f'#!/bin/sh\n{target} "$@"\nmkdir -p "$PROVISION_ROOT/fsx/alice"\n'
            'echo other >"$PROVISION_ROOT/fsx/alice/.bashrc"\n',
        )
        succeeds(worker, "add_users")
        assert worker.read("/fsx/alice/.bashrc") == "other\n"
        assert [path.name for path in worker.path("/fsx").iterdir() if "new" in path.name] == []

    def test_accounts_that_cannot_be_changed(self, worker: Node) -> None:
        said = "useradd: cannot lock /etc/passwd; try again later."
        worker.replace("useradd", f"#!/bin/sh\necho '{said}' >&2\nexit 1\n")
        fails(worker, "add_users", f"useradd does not change alice: {said}", "fuser /etc/passwd.lock")

    def test_accounts_that_others_change_for_a_moment(self, worker: Node) -> None:
        real = worker.programs / "useradd"
        (worker.programs / "later").symlink_to(real.readlink())
        worker.replace(
            "useradd",
            '#!/bin/sh\n[ -e "$PROVISION_ROOT/waited" ] || { : >"$PROVISION_ROOT/waited"; exit 1; }\n'
            'exec later "$@"\n',
        )
        assert "users of /fsx/hyperpod/users.csv on this node: 2" in succeeds(worker, "add_users")

    def test_somebody_makes_a_home_first(self, worker: Node) -> None:
        """Where all may make names: the node comes up all the same."""
        worker.path("/fsx").chmod(0o1777)
        faster = f"case $* in *new.i-0workers2*/alice) ln -s /etc '{worker.path('/fsx/alice')}' ;; esac"
        worker.replace("mv", f'#!/bin/sh\n{faster}\nexec {shutil.which("mv")} "$@"\n')
        output = succeeds(worker, "add_users")
        assert "left out: alice, since /fsx/alice is a link" in output
        assert [path.name for path in worker.path("/fsx").iterdir() if "new" in path.name] == []

    def test_root_that_is_nobody_there(self, worker: Node) -> None:
        """As an OpenZFS file system exports by default."""
        if os.geteuid() != 0:
            return
        os.chown(worker.path("/fsx/hyperpod"), 65534, 65534)
        fails(worker, "share_ssh_keys", "/fsx/hyperpod belongs to nobody (user 65534)", "run again")

    def test_no_file_yet(self, worker: Node) -> None:
        worker.path("/fsx/hyperpod/users.csv").unlink()
        output = succeeds(worker, "add_users")
        assert "WARNING: /fsx/hyperpod/users.csv is not there yet" in output
        assert "sudo bash /opt/hyperpod/scripts/steps/add_users.sh" in output
        succeeds(worker, "share_ssh_keys")


class TestSshKeys:
    @pytest.fixture
    def node(self, worker: Node) -> Node:
        succeeds(worker, "add_users")
        return worker

    def test_let_each_user_in_on_every_node(self, node: Node) -> None:
        succeeds(node, "share_ssh_keys")
        folder = node.path("/fsx/alice/.ssh")
        public = (folder / "id_ed25519.pub").read_text()
        assert public == "ssh-ed25519 AAAAalice@llm-train alice@llm-train\n"
        assert (folder / "authorized_keys").read_text() == public
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in [folder, *folder.iterdir()]}
        assert modes == {
            ".ssh": 0o700,
            "id_ed25519": 0o600,
            "id_ed25519.pub": 0o600,
            "authorized_keys": 0o600,
        }

    def test_keys_of_others_stay(self, node: Node) -> None:
        node.write("/fsx/alice/.ssh/authorized_keys", "ssh-rsa AAAAhome alice@home")
        node.write("/fsx/alice/.ssh/id_ed25519", "-----BEGIN\nkey of old\n")
        succeeds(node, "share_ssh_keys")
        assert node.read("/fsx/alice/.ssh/authorized_keys").splitlines() == [
            "ssh-rsa AAAAhome alice@home",
            "ssh-ed25519 AAAAold alice@llm-train",
        ]
        assert node.read("/fsx/alice/.ssh/id_ed25519") == "-----BEGIN\nkey of old\n"

    def test_nodes_know_each_other(self, node: Node) -> None:
        succeeds(node, "share_ssh_keys")
        expected = "10.1.1.2,ip-10-1-1-2 ssh-ed25519 AAAAC3NzaHost\n"
        assert node.read("/fsx/hyperpod/host-keys/10.1.1.2") == expected
        assert node.read("/fsx/hyperpod/host-keys/ip-10-1-1-2") == expected

    def test_a_replaced_node_publishes_its_new_key(self, node: Node) -> None:
        succeeds(node, "share_ssh_keys")
        node.write("/etc/ssh/ssh_host_ed25519_key.pub", "ssh-ed25519 AAAAnew root@node\n")
        succeeds(node, "share_ssh_keys")
        assert node.read("/fsx/hyperpod/host-keys/10.1.1.2") == "10.1.1.2,ip-10-1-1-2 ssh-ed25519 AAAAnew\n"

    @pytest.mark.parametrize(
        ("host", "printed"),
        [
            ("10.1.1.2", "10.1.1.2,ip-10-1-1-2 ssh-ed25519 AAAAC3NzaHost\n"),
            ("10.1.1.99", ""),
            ("../users.csv", ""),
            ("..", ""),
        ],
    )
    def test_looking_up_never_fails(self, node: Node, host: str, printed: str) -> None:
        """Ssh gives up when the command that it asks for host keys fails."""
        succeeds(node, "share_ssh_keys")
        script = node.path("/opt/hyperpod/known-host")
        text = script.read_text().replace("/fsx/hyperpod", str(node.path("/fsx/hyperpod")))
        assert stat.S_IMODE(script.stat().st_mode) == 0o755
        result = subprocess.run(["sh", "-s", host], input=text, capture_output=True, text=True, check=True)
        assert result.stdout == printed

    def test_what_the_path_holds_is_no_code(self, node: Node) -> None:
        """Who runs ssh runs the command that looks up."""
        folder = '/fsx/it\'s $(touch made) `touch made` "here"'
        set_parameters(node, shared_folder=folder)
        succeeds(node, "share_ssh_keys")
        text = node.read("/opt/hyperpod/known-host").replace("/fsx/it", str(node.path("/fsx/it")))
        result = subprocess.run(
            ["sh", "-s", "10.1.1.2"], cwd=node.root, input=text, capture_output=True, text=True, check=True
        )
        assert (result.stdout, result.stderr) == ("10.1.1.2,ip-10-1-1-2 ssh-ed25519 AAAAC3NzaHost\n", "")
        assert not node.path("/made").exists()

    def test_what_runs_as_a_user_has_no_terminal(self, node: Node) -> None:
        """A user may take over what runs as them, and would type into the terminal of the operator."""
        (node.programs / "setpriv").unlink()
        node.write("/setpriv", '#!/bin/sh\n(: </dev/tty) 2>/dev/null || : >"$PROVISION_ROOT/no-terminal"\n')
        (node.programs / "setpriv").symlink_to(node.path("/setpriv"))
        child, controller = pty.fork()
        if child == 0:
            os.chdir(node.folder)
            command = node.command("steps/share_ssh_keys.sh")
            os.execve(command[0], command, node.environment())
        with contextlib.suppress(OSError):
            # At its end Linux says so with an error.
            while os.read(controller, 4096):
                pass
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        os.close(controller)
        assert node.path("/no-terminal").exists()

    @pytest.mark.needs_system("ssh")
    def test_real_ssh_takes_the_configuration(self, node: Node) -> None:
        succeeds(node, "share_ssh_keys")
        configuration = node.path("/etc/ssh/ssh_config.d/10-hyperpod.conf")
        for host, expected in (("ip-10-1-1-3", True), ("10.1.1.3", True), ("github.com", False)):
            said = subprocess.run(
                ["ssh", "-F", str(configuration), "-G", host], capture_output=True, text=True, check=True
            )
            looked_up = "knownhostscommand /opt/hyperpod/known-host %H" in said.stdout
            assert looked_up is expected, said.stdout

    def test_a_folder_where_others_could_pretend_to_be_a_node(self, node: Node) -> None:
        succeeds(node, "share_ssh_keys")
        node.path("/fsx/hyperpod/host-keys").chmod(0o777)
        said = "/fsx/hyperpod/host-keys can be written by others than root"
        fails(node, "share_ssh_keys", said, "chmod go-w")

    @pytest.mark.parametrize("name", ["", "localhost", "localhost.localdomain", "-x", "../../../etc/passwd"])
    def test_a_name_that_is_none_of_a_node(self, node: Node, name: str) -> None:
        before = node.read("/etc/passwd")
        node.replace("hostname", f"#!/bin/sh\nprintf '%s\\n' '{name}'\n")
        assert "others find its host keys by its address only" in succeeds(node, "share_ssh_keys")
        assert node.read("/fsx/hyperpod/host-keys/10.1.1.2") == "10.1.1.2 ssh-ed25519 AAAAC3NzaHost\n"
        assert [path.name for path in node.path("/fsx/hyperpod/host-keys").iterdir()] == ["10.1.1.2"]
        assert node.read("/etc/passwd") == before

    def test_no_host_keys(self, node: Node) -> None:
        node.path("/etc/ssh/ssh_host_ed25519_key.pub").unlink()
        fails(node, "share_ssh_keys", "this node has no SSH host keys", "ssh-keygen -A")

    def test_a_key_that_cannot_be_made_keeps_no_node_from_coming_up(self, node: Node) -> None:
        """What users do in their homes is theirs."""
        node.write("/fsx/alice/.ssh", "in the way")
        output = succeeds(node, "share_ssh_keys")
        assert "WARNING: SSH between nodes: " in output
        assert "no keys of alice: FileExistsError: " in output
        assert node.path("/fsx/bob/.ssh/id_ed25519").exists()
        assert node.path("/fsx/hyperpod/host-keys/10.1.1.2").exists()

    @pytest.mark.parametrize("name", ["id_ed25519", "authorized_keys"])
    def test_a_pipe_that_nobody_writes_holds_no_node_up(self, node: Node, name: str) -> None:
        succeeds(node, "share_ssh_keys")
        path = node.path(f"/fsx/alice/.ssh/{name}")
        path.unlink()
        os.mkfifo(path)
        if name == "id_ed25519":
            # Ssh-keygen would wait for the pipe's other end until its time is over.
            node.replace("timeout", "#!/bin/sh\nexit 124\n")
        assert "no keys of alice: " in succeeds(node, "share_ssh_keys")

    def test_an_endless_file_fills_no_memory(self, node: Node) -> None:
        node.path("/fsx/alice/.ssh").mkdir(mode=0o700)
        node.path("/fsx/alice/.ssh/authorized_keys").symlink_to("/dev/zero")
        assert "authorized_keys is no file, or one of more than" in succeeds(node, "share_ssh_keys")

    @pytest.mark.parametrize("place", ["/fsx/hyperpod", "/fsx/hyperpod/host-keys"])
    def test_a_link_that_leads_where_others_write(self, node: Node, place: str) -> None:
        set_parameters(node, users_file=None)
        open_to_all = node.path("/fsx/open")
        open_to_all.mkdir()
        open_to_all.chmod(0o1777)
        path = node.path(place)
        if path.exists():
            shutil.rmtree(path)
        path.symlink_to(open_to_all)
        fails(node, "share_ssh_keys", "can be written by others than root: run chmod go-w", "chmod go-w")
        assert list(open_to_all.iterdir()) == []

    @pytest.mark.needs_system("ssh-keygen")
    def test_real_keys(self, node: Node) -> None:
        real = shutil.which("ssh-keygen")
        assert real is not None
        node.without("ssh-keygen")
        (node.programs / "ssh-keygen").symlink_to(real)
        succeeds(node, "share_ssh_keys")
        key = node.read("/fsx/alice/.ssh/id_ed25519")
        assert key.startswith("-----BEGIN OPENSSH PRIVATE KEY-----\n")
        assert node.read("/fsx/alice/.ssh/authorized_keys").startswith("ssh-ed25519 AAAA")
        succeeds(node, "share_ssh_keys")
        assert node.read("/fsx/alice/.ssh/id_ed25519") == key


class TestEfa:
    def cards(self, node: Node, count: int) -> None:
        for card in list(node.path("/sys/class/infiniband").iterdir())[count:]:
            shutil.rmtree(card)

    def test_all_are_there(self, worker: Node) -> None:
        assert "EFA: all 32 interfaces of ml.p5.48xlarge are there" in succeeds(worker, "check_efa")

    def test_none_is_there(self, worker: Node) -> None:
        self.cards(worker, 0)
        fails(worker, "check_efa", "none of the 32 interfaces of ml.p5.48xlarge is there", "Action:Replace")

    def test_some_are_missing(self, worker: Node) -> None:
        self.cards(worker, 31)
        assert "WARNING: EFA: 31 of 32 interfaces" in succeeds(worker, "check_efa")

    def test_cards_of_others_do_not_count(self, worker: Node) -> None:
        self.cards(worker, 0)
        worker.write("/sys/class/infiniband/mlx5_0/device/vendor", "0x15b3\n")
        fails(worker, "check_efa", "none of the 32 interfaces", "driver")

    def test_a_type_without(self, worker: Node) -> None:
        set_parameters(worker, efa_interfaces={"ml.p5.48xlarge": 0})
        self.cards(worker, 0)
        assert "EFA: ml.p5.48xlarge has none" in succeeds(worker, "check_efa")

    def test_a_type_that_nobody_said_anything_of(self, worker: Node) -> None:
        set_parameters(worker, efa_interfaces={})
        assert "EFA: 32 interfaces; how many" in succeeds(worker, "check_efa")


class TestLogs:
    def test_on_a_node_that_nobody_identified(self, worker: Node) -> None:
        """On EKS it goes on without its identity, and the streams are named by that."""
        set_parameters(worker, orchestrator="eks")
        worker.path("/opt/ml/config/resource_config.json").unlink()
        succeeds(worker, "identify_node")
        assert "WARNING: nobody knows which node this is" in succeeds(worker, "ship_logs")

    def test_agent_sends_to_the_clusters_own_group(self, worker: Node) -> None:
        output = succeeds(worker, "ship_logs")
        assert "CloudWatch gets: /var/log/slurm/slurmd.log" in output
        taken = json.loads(worker.read("/opt/aws/amazon-cloudwatch-agent/taken.json"))
        assert taken["agent"] == {"region": "us-west-2"}
        assert taken["logs"]["logs_collected"]["files"]["collect_list"] == [
            {
                "file_path": "/var/log/slurm/slurmd.log",
                "log_group_name": "/aws/sagemaker/Clusters/llm-train/abcdefghijkl",
                "log_stream_name": "slurmd/workers/i-0workers2",
                "timezone": "UTC",
            }
        ]

    def test_agent_is_told_again_after_a_change_only(self, worker: Node) -> None:
        succeeds(worker, "ship_logs")
        taken = worker.path("/opt/aws/amazon-cloudwatch-agent/taken.json")
        taken.unlink()
        succeeds(worker, "ship_logs")
        assert not taken.exists()
        set_parameters(worker, log_shipping={"files": {"syslog": "/var/log/syslog"}})
        succeeds(worker, "ship_logs")
        assert "/var/log/syslog" in taken.read_text()

    def test_no_agent(self, worker: Node) -> None:
        worker.path(AGENT_CONTROL).unlink()
        assert "WARNING: the CloudWatch agent is not on this node" in succeeds(worker, "ship_logs")

    def test_agent_refuses(self, worker: Node) -> None:
        worker.write(AGENT_CONTROL, "#!/bin/sh\necho 'E! invalid region' >&2\nexit 1\n")
        fails(worker, "ship_logs", "takes no configuration: E! invalid region", "logs on the node")
        worker.write(AGENT_CONTROL, WORKER.files[AGENT_CONTROL])
        succeeds(worker, "ship_logs")
        assert worker.path("/opt/aws/amazon-cloudwatch-agent/taken.json").exists()

    def test_what_is_no_file(self, worker: Node) -> None:
        set_parameters(worker, log_shipping={"files": {"slurmd": "slurmd.log"}})
        fails(worker, "ship_logs", "needs names with absolute paths, got 'slurmd'", "correct log_shipping")

    def test_a_failed_run_waits_until_its_lines_are_shipped(self, worker: Node) -> None:
        worker.path("/opt/ml/config/resource_config.json").unlink()
        worker.replace("sleep", '#!/bin/sh\necho "$1" >>"$PROVISION_ROOT/slept"\n')
        environment = worker.environment()
        del environment["PROVISION_SHIPPING_SECONDS"]
        result = subprocess.run(
            worker.command(), env=environment, capture_output=True, text=True, check=False
        )
        assert result.returncode == 70
        assert worker.read("/slept") == "30\n", "once, not for each of the scripts that it went through"
        assert "FAILED in step 'identify_node'" in last_line(result)

    def test_a_run_that_succeeds_does_not_wait(self, worker: Node) -> None:
        worker.replace("sleep", '#!/bin/sh\necho "$1" >>"$PROVISION_ROOT/slept"\n')
        environment = worker.environment()
        del environment["PROVISION_SHIPPING_SECONDS"]
        subprocess.run(worker.command(), env=environment, capture_output=True, check=True)
        assert not worker.path("/slept").exists()


class TestHealth:
    def test_says_what_the_steps_found(self, worker: Node) -> None:
        volume = "/dev/nvme1n1 /opt/sagemaker ext4 rw 0 0\n"
        worker.write("/proc/self/mounts", worker.read("/proc/self/mounts") + volume)
        output = worker.run().stdout
        assert "summarize_health: health: nothing to see to" in output
        health = json.loads(worker.read("/opt/hyperpod/health.json"))
        assert health["instance_id"] == "i-0workers2"
        assert health["findings"]["efa"] == {
            "state": "ok",
            "words": "EFA: all 32 interfaces of ml.p5.48xlarge are there",
        }
        assert {"file_systems", "gpus", "root_volume", "users", "ssh"} <= set(health["findings"])

    def test_says_what_asks_for_a_look(self, worker: Node) -> None:
        worker.write("/opt/hyperpod/health/efa", "ok EFA: all 32 interfaces are there\n")
        break_down(worker, "gpus", "7\n")
        break_down(worker, "used-percent", "97\n")
        output = succeeds(worker, "summarize_health")
        assert "WARNING: / is at least 90 % full" in output
        assert "WARNING: 7 of 8 GPUs are there" in output
        assert (
            output.splitlines()[-1].split("WARNING: ")[1].startswith("health: 2 of the checks ask for a look")
        )

    def test_gpus_fell_off_the_bus(self, worker: Node) -> None:
        worker.replace("nvidia-smi", "#!/bin/sh\necho 'Unable to determine the device handle'\nexit 15\n")
        output = succeeds(worker, "summarize_health")
        assert "WARNING: nvidia-smi fails: Unable to determine the device handle" in output

    def test_no_gpus_and_none_wanted(self, worker: Node) -> None:
        worker.without("nvidia-smi")
        set_parameters(worker, gpus={})
        assert "summarize_health: GPUs: 0" in succeeds(worker, "summarize_health")

    def test_a_whole_run_forgets_what_it_found_before(self, worker: Node) -> None:
        worker.write("/opt/hyperpod/health/gone", "warning of a step that is no more\n")
        assert worker.run().returncode == 0
        assert "gone" not in worker.read("/opt/hyperpod/health.json")


class TestKeptScripts:
    def test_run_again_from_where_they_are_kept(self, worker: Node) -> None:
        assert worker.run().returncode == 0
        shutil.rmtree(worker.bundle)
        users = worker.path("/fsx/hyperpod/users.csv")
        users.write_text(users.read_text() + "dora,2004,/fsx/dora\n")
        step = worker.path("/opt/hyperpod/scripts/steps/add_users.sh")
        result = subprocess.run(
            ["bash", str(step)], env=worker.environment(), capture_output=True, text=True, check=False
        )
        assert result.returncode == 0, result.stdout
        assert "dora:x:2004" in worker.read("/etc/passwd")

    def test_whole_run_of_the_kept_ones(self, worker: Node) -> None:
        assert worker.run().returncode == 0
        before = read_tree(worker.root)
        entry = worker.path("/opt/hyperpod/scripts/on_init_complete.sh")
        subprocess.run(["bash", str(entry)], env=worker.environment(), capture_output=True, check=True)
        assert differences(before, read_tree(worker.root)) == []

    def test_a_new_version_takes_the_place(self, worker: Node) -> None:
        succeeds(worker, "keep_scripts")
        (worker.bundle / "parameters.json").write_text("{}")
        succeeds(worker, "keep_scripts")
        assert worker.read("/opt/hyperpod/scripts/parameters.json") == "{}"
        assert len(list(worker.path("/opt/hyperpod/bundles").iterdir())) == 1

    def test_a_folder_is_in_the_way(self, worker: Node) -> None:
        worker.write("/opt/hyperpod/scripts/own.sh", "")
        fails(worker, "keep_scripts", "cannot make a link of", "something else is in the way")
        assert worker.read("/opt/hyperpod/scripts/own.sh") == ""


class TestTheNodeItself:
    def test_a_mask_of_the_agent_changes_nothing(self, tmp_path: Path) -> None:
        trees = []
        for mask in (0o022, 0o077):
            folder = tmp_path / oct(mask)
            folder.mkdir()
            node = Node(folder, WORKER)
            before = set(read_tree(node.root))
            subprocess.run(
                node.command(), env=node.environment(), umask=mask, capture_output=True, check=True
            )
            trees.append(read_tree(node.root))
        assert before < set(trees[0])
        assert differences(*trees) == []

    def test_variables_of_the_agent_change_nothing(self, tmp_path: Path) -> None:
        """Nothing but the PATH is set in the other tests; here, much is that a script may trip over."""
        trees = []
        for number, extra in enumerate(
            ({}, {"HOME": "/nowhere", "IFS": "x", "CDPATH": "/", "LC_ALL": "de_DE"})
        ):
            folder = tmp_path / str(number)
            folder.mkdir()
            node = Node(folder, WORKER)
            assert node.run(**extra).returncode == 0
            trees.append(read_tree(node.root))
        assert differences(*trees) == []

    @pytest.mark.parametrize("place", ["/opt/hyperpod", "/var/log/provision"])
    def test_a_link_to_a_folder_is_followed(self, tmp_path: Path, place: str) -> None:
        node = Node(tmp_path, WORKER)
        target = node.path(f"/opt/sagemaker{place}")
        target.mkdir(parents=True)
        node.path(place).parent.mkdir(parents=True, exist_ok=True)
        node.path(place).symlink_to(target)
        for _ in range(2):
            result = node.run()
            assert result.returncode == 0, result.stdout
        assert node.path(place).is_symlink()
        assert list(target.iterdir())

    def test_a_link_to_nowhere_is_told(self, tmp_path: Path) -> None:
        node = Node(tmp_path, WORKER)
        node.path("/opt/hyperpod").symlink_to("/nowhere/at/all")
        result = node.run()
        assert result.returncode == 70
        assert "FAILED in step 'on_init_complete': cannot make the folder" in last_line(result)
        assert "something else is in the way" in last_line(result)

    @pytest.mark.parametrize("way", FULL_DISKS)
    def test_a_full_disk_is_told(self, tmp_path: Path, way: str) -> None:
        node = Node(tmp_path, WORKER)
        state = node.path("/opt/hyperpod")
        state.mkdir(parents=True)
        command = node.command()
        if way == "real":
            mount = f'{shutil.which("mount")} -t tmpfs -o size=64k none "{state}"'
            fill = f'{mount} && ! cat /dev/zero >"{state}/filler" 2>/dev/null'
            unshare = [str(shutil.which("unshare")), "-rm", "sh", "-c", f'{fill} && exec "$@"', "sh"]
            command = [*unshare, *command]
        else:
            said = "cat: write error: No space left on device"
            node.replace("cat", f"#!/bin/sh\necho '{said}' >&2\nexit 1\n")
        result = subprocess.run(command, env=node.environment(), capture_output=True, text=True, check=False)
        assert result.returncode == 70, result.stdout + result.stderr
        line = last_line(result)
        assert "FAILED in step 'identify_node': cannot write " in line
        assert "No space left on device; remedy: free space on the file system of" in line

    def test_a_disk_that_became_read_only_is_told(self, worker: Node) -> None:
        if not can_mount():
            return  # whoever runs the tests may mount nothing here
        state = worker.path("/opt/hyperpod")
        mount = f'{shutil.which("mount")} -t tmpfs -o ro none "{state}" && exec "$@"'
        command = [str(shutil.which("unshare")), "-rm", "sh", "-c", mount, "sh", *worker.command()]
        result = subprocess.run(
            command, env=worker.environment(), capture_output=True, text=True, check=False
        )
        assert result.returncode == 70, result.stdout + result.stderr
        assert f"cannot write {state}/.lock: Read-only file system; remedy: the file system of" in last_line(
            result
        )

    def test_a_log_that_takes_no_writes_does_not_hide_the_reason(self, worker: Node) -> None:
        log = worker.path("/var/log/provision/provisioning.log")
        log.unlink()
        log.mkdir()
        worker.path("/opt/ml/config/resource_config.json").unlink()
        result = worker.run()
        assert result.returncode == 70
        assert "FAILED in step 'identify_node': no readable" in last_line(result)
        assert "identify_node: WARNING: " in result.stdout
        assert f"{log} takes no writes, so that these lines are not in it" in result.stdout

    def test_parameters_that_are_no_json(self, worker: Node) -> None:
        (worker.bundle / "parameters.json").write_text("{'efa_interfaces': ")
        fails(worker, "check_efa", "parameters.json: json.decoder.JSONDecodeError", "it must be JSON")

    @pytest.mark.parametrize("content", ["", "[]", "null", "{"])
    def test_parameters_that_say_nothing_are_told_as_such(self, worker: Node, content: str) -> None:
        """Not as a fault of the node's addresses, which nobody would find."""
        (worker.bundle / "parameters.json").write_text(content)
        fails(worker, "identify_node", "parameters.json: ", "compare it with what was uploaded")

    def test_parameters_of_another_version(self, worker: Node) -> None:
        """What is not known is passed over, and what is not there leaves its step without work."""
        set_parameters(worker, version=9, unheard_of={"a": [1]}, required_mounts=None, gpus=None)
        result = worker.run()
        assert result.returncode == 0, result.stdout

    def test_a_number_that_is_none(self, worker: Node) -> None:
        set_parameters(worker, efa_interfaces={"ml.p5.48xlarge": "many"})
        fails(worker, "check_efa", "efa_interfaces of ml.p5.48xlarge", "render the parameters again")

    def test_a_description_of_the_cluster_that_is_cut_off(self, worker: Node) -> None:
        path = "/opt/ml/config/resource_config.json"
        worker.write(path, worker.read(path)[:300])
        fails(worker, "identify_node", f"which node this is by {worker.path(path)}: json", "whole")

    def test_a_description_of_a_large_cluster_with_a_group_that_has_no_instances(self, worker: Node) -> None:
        path = "/opt/ml/config/resource_config.json"
        config = json.loads(worker.read(path))
        many = [
            {"CustomerIpAddress": f"10.9.{number // 250}.{number % 250}", "InstanceId": f"i-{number}"}
            for number in range(5000)
        ]
        config["InstanceGroups"][:0] = [
            {"Name": "none", "InstanceType": "ml.m5.large", "Instances": None},
            {"Name": "many", "InstanceType": "ml.m5.large", "Instances": many},
        ]
        worker.write(path, json.dumps(config))
        succeeds(worker, "identify_node")
        assert json.loads(worker.read("/opt/hyperpod/node.json"))["instance_id"] == "i-0workers2"

    def test_nothing_is_left_in_temporary_folders(self, worker: Node) -> None:
        assert worker.run().returncode == 0
        assert list(worker.path("/tmp").iterdir()) == []


@pytest.mark.needs_system("setpriv", "ssh-keygen")
def test_real_setpriv_acts_as_the_user() -> None:
    """Root may not write through a link that a user put in place of a folder of their own.

    Only root can act as another user; for anybody else the script acts as they are.
    """
    python = shutil.which("python3", path="/usr/bin:/bin:/usr/local/bin")
    if os.geteuid() != 0 or python is None:
        return
    user = pwd.getpwnam("nobody")
    # Outside of pytest's own folders, which other users cannot enter.
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    folder.chmod(0o755)
    try:
        victim, home = folder / "victim", folder / "home"
        for path, mode in ((victim, 0o755), (home, 0o700)):
            path.mkdir(mode=mode)
        os.chown(home, user.pw_uid, user.pw_gid)
        command = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", python]

        def make_keys() -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [*command, "-I", "-", str(home), "alice@llm-train", "i-0"],
                cwd=home,
                input=(scripts_folder() / "lib/user_keys.py").read_text(),
                capture_output=True,
                text=True,
                check=False,
            )

        (home / ".ssh").symlink_to(victim)
        refused = make_keys()
        assert refused.returncode != 0
        assert list(victim.iterdir()) == []
        (home / ".ssh").unlink()
        made = make_keys()
        assert (made.returncode, made.stderr) == (0, "")
        key = home / ".ssh/id_ed25519"
        assert (key.stat().st_uid, stat.S_IMODE(key.stat().st_mode)) == (user.pw_uid, 0o600)
    finally:
        shutil.rmtree(folder)
