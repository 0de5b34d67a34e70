from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from hyperpod_lifecycle import script_checks
from hyperpod_lifecycle.content_hash import ScriptFile
from hyperpod_lifecycle.script_checks import check_folder, check_script, find_package_installation
from hyperpod_lifecycle.scripts_folder import scripts_folder
from hyperpod_lifecycle.slurm_configuration.provisioning_parameters import (
    WorkerGroup,
    render_provisioning_parameters,
)

BASH = shutil.which("bash")
ENTRY = b"#!/bin/bash\nset -euo pipefail\necho hello\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, "on_init_complete.sh", ENTRY, 0o755)
    return tmp_path


def write(folder: Path, name: str, content: bytes, mode: int = 0o644) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)


def check(
    folder: Path,
    entry_point: str = "on_init_complete.sh",
    *,
    bash: str | None = None,
    service_configures_slurm: bool = True,
) -> list[str]:
    found = check_folder(
        folder, entry_point=entry_point, service_configures_slurm=service_configures_slurm, bash=bash
    )
    return [f"{fault.severity} {fault}" for fault in found]


def script(body: str) -> list[str]:
    file = ScriptFile("a.sh", f"#!/bin/bash\n{body}".encode(), True)
    found = check_script(file, bundle=frozenset({"a.sh", "step.sh", "lib/common.sh", "users.txt"}))
    return [f"{fault.severity} {fault}" for fault in found]


def test_sound_folder_has_no_fault(folder: Path) -> None:
    assert check(folder, bash=BASH) == []


@pytest.mark.needs_system("bash")
def test_own_scripts_are_sound() -> None:
    assert check(scripts_folder(), bash=BASH) == []


def test_missing_folder(tmp_path: Path) -> None:
    (message,) = check(tmp_path / "nowhere")
    assert message.startswith("error folder: must be an existing folder of scripts, got '")


class TestEntryPoint:
    @pytest.mark.parametrize(
        ("entry_point", "message"),
        [
            ("on_init_complet.sh", "got 'on_init_complet.sh'; choose one of on_init_complete.sh"),
            ("lib/start.sh", "without '/', got 'lib/start.sh'"),
            ("x" * 129, "of at most 128 characters"),
            ("", "got ''"),
        ],
    )
    def test_must_be_there(self, folder: Path, entry_point: str, message: str) -> None:
        (fault,) = check(folder, entry_point)
        assert fault.startswith("error entry_point: needs ")
        assert message in fault

    def test_of_a_folder_with_much_else_names_scripts_first(self, tmp_path: Path) -> None:
        for number in range(9):
            write(tmp_path, f"{number}.txt", b"x\n")
        write(tmp_path, "setup.sh", b"#!/bin/bash\n")
        (fault,) = check(tmp_path)
        assert fault.endswith("; choose one of setup.sh, or add it")
        (tmp_path / "setup.sh").unlink()
        (fault,) = check(tmp_path)
        assert fault.endswith("; choose one of 0.txt, 1.txt, 2.txt, 3.txt, 4.txt, ..., or add it")

    def test_that_lies_deeper_is_to_be_moved(self, tmp_path: Path) -> None:
        (tmp_path / "sub").mkdir()
        write(tmp_path, "sub/on_init_complete.sh", b"#!/bin/bash\n")
        (fault,) = check(tmp_path)
        assert fault.endswith("; move sub/on_init_complete.sh to the top of the folder")

    def test_of_an_empty_folder(self, tmp_path: Path) -> None:
        (fault,) = check(tmp_path)
        assert fault.endswith("add it to the folder")

    def test_must_be_executable(self, folder: Path) -> None:
        (folder / "on_init_complete.sh").chmod(0o644)
        (fault,) = check(folder)
        assert fault == (
            "error on_init_complete.sh: is the entry point and not executable; run chmod +x "
            "on_init_complete.sh"
        )

    def test_needs_no_mode_on_windows(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(script_checks, "has_executable_mode", lambda: False)
        (folder / "on_init_complete.sh").chmod(0o644)
        assert check(folder) == []

    def test_of_another_language_is_welcome(self, folder: Path) -> None:
        write(folder, "start.py", b"#!/usr/bin/env python3\n", 0o755)
        assert check(folder, "start.py", bash=BASH) == []

    def test_needs_a_first_line(self, folder: Path) -> None:
        write(folder, "start", b"echo hello\n", 0o755)
        (fault,) = check(folder, "start")
        assert "start (line 1): is the entry point and has no '#!'" in fault


class TestFirstLine:
    def test_missing(self, folder: Path) -> None:
        write(folder, "step.sh", b"echo hello\n")
        assert check(folder) == ["error step.sh (line 1): has no '#!' on its first line; add #!/bin/bash"]

    def test_behind_a_byte_order_mark(self, folder: Path) -> None:
        write(folder, "step.sh", b"\xef\xbb\xbf" + ENTRY)
        assert check(folder) == [
            "error step.sh (line 1): begins with a byte order mark, which hides '#!'; save it without"
        ]

    def test_binary_under_a_scripts_name(self, folder: Path) -> None:
        write(folder, "step.sh", b"#!/bin/bash\n\0")
        assert check(folder) == [
            "error step.sh (line 1): holds a NUL byte, so that it is no script; upload text"
        ]


class TestLineEnds:
    def test_carriage_returns_in_scripts(self) -> None:
        (fault,) = script("echo a\r\necho b\necho c\r\n")
        assert fault.startswith("error a.sh (line 2): has carriage returns on 2 of its lines")

    def test_last_line_without_end(self) -> None:
        (fault,) = script("echo a")
        assert fault.startswith("error a.sh (line 2): has a last line without a line end")

    def test_in_other_text_they_are_warnings(self, folder: Path) -> None:
        write(folder, "users.txt", b"ada\r\nbob")
        faults = check(folder)
        assert [fault.split(":")[0] for fault in faults] == [
            "warning users.txt (line 1)",
            "warning users.txt (line 2)",
        ]

    def test_in_binaries_they_are_nothing(self, folder: Path) -> None:
        write(folder, "driver.bin", b"\0\r\n")
        assert check(folder) == []


class TestContinuations:
    @pytest.mark.parametrize(
        "body",
        [
            "srun --a \\\n  # --b \\\n  --c\n",
            "srun --a \\\n# end\n",
        ],
    )
    def test_comment_within_a_command(self, body: str) -> None:
        (fault,) = script(body)
        assert fault.startswith("error a.sh (line 3): is a comment in the middle of a continued command")

    def test_comment_behind_a_backslash(self) -> None:
        (fault,) = script("srun --a \\ # why\n  --b\n")
        assert fault.startswith("error a.sh (line 2): has a comment after the backslash")

    def test_blanks_behind_a_backslash(self) -> None:
        (fault,) = script("srun --a \\  \n  --b\n")
        assert fault.startswith("error a.sh (line 2): has blanks after the backslash")

    @pytest.mark.parametrize(
        "body",
        [
            "srun --a \\\n  --b\n# a comment after the command\n",
            "# a comment that ends in \\\n# and goes on\n",
            "echo 'a \\\n# within quotes'\n",
            'python3 -c "\nx = 1 \\\n# python\n"\n',
            "cat <<EOF\nFROM x \\\n# a Dockerfile\nEOF\n",
            "cat <<-'EOF'\n\tRUN a \\\n\t# b\n\tEOF\necho done\n",
            "cat <<\\EOF\nRUN a \\\n# b\nEOF\n",
            "echo a\\\\\n# two backslashes are one\n",
            'read -r x <<<"$y" \\\n  || true\n',
            "echo ${#array[@]} \\\n  b\n",
        ],
    )
    def test_must_not_fire(self, body: str) -> None:
        assert script(body) == []


class TestCalls:
    @pytest.mark.parametrize(
        "line",
        [
            "./step.sh",
            '"$here/step.sh" --now',
            "if ! /opt/bundle/lib/common.sh; then",
            "cd x && ./step.sh",
            "exec ./step.sh",
            "sudo ./step.sh",
        ],
    )
    def test_by_mode(self, line: str) -> None:
        (fault,) = script(f"{line}\n")
        assert fault.startswith("warning a.sh (line 2): starts ")
        assert "; write: bash " in fault

    @pytest.mark.parametrize(
        "line",
        [
            "bash ./step.sh",
            'bash "$here/step.sh"',
            'if ! bash "$here/step.sh"; then :; fi',
            ". ./lib/common.sh",
            'source "$here/lib/common.sh"',
            "# ./step.sh",
            "cp ./step.sh /opt/",
            "chmod +x ./step.sh",
            "./other.sh",
            'path="$here/step.sh"',
        ],
    )
    def test_must_not_fire(self, line: str) -> None:
        assert script(f"{line}\n") == []


@pytest.mark.needs_system("bash")
class TestParsing:
    def test_finds_the_line(self, folder: Path) -> None:
        write(folder, "step.sh", b"#!/usr/bin/env bash\nif true; then\n  echo a\n}\n")
        (fault,) = check(folder, bash=BASH)
        assert fault.startswith("error step.sh (line 4): does not parse: syntax error")

    def test_other_shells_are_left_alone(self, folder: Path) -> None:
        write(folder, "step.sh", b"#!/bin/zsh\nif true; then\n")
        assert check(folder, bash=BASH) == []

    def test_runs_nothing(self, folder: Path) -> None:
        write(folder, "step.sh", f"#!/bin/bash\ntouch '{folder}/ran'\n".encode())
        assert check(folder, bash=BASH) == []
        assert not (folder / "ran").exists()


class TestSlurm:
    def test_parameters_beside_the_services_own_configuration(self, folder: Path) -> None:
        write(folder, "config/provisioning_parameters.json", b"{}\n")
        (fault,) = check(folder)
        assert fault.startswith(
            "error config/provisioning_parameters.json: must not be there when the service"
        )

    def test_parameters_where_scripts_configure(self, folder: Path) -> None:
        groups = [WorkerGroup("workers", "gpu")]
        text = render_provisioning_parameters(controller_group="controller", worker_groups=groups)
        write(folder, "provisioning_parameters.json", text.encode())
        assert check(folder, service_configures_slurm=False) == []

    def test_parameters_that_hyperpod_cannot_read(self, folder: Path) -> None:
        write(folder, "config/provisioning_parameters.json", b'{"version": "2"}\n')
        found = check(folder, service_configures_slurm=False)
        assert (
            "error config/provisioning_parameters.json.version: must be '1.0.0', got '2'; correct it" in found
        )

    @pytest.mark.parametrize("name", ["accounting.conf", "slurm.conf"])
    def test_settings_that_slurm_stops_at(self, folder: Path, name: str) -> None:
        write(folder, name, b"KillWait=60\nAccountingStorageTRES: gres/gpu\n")
        (fault,) = check(folder, service_configures_slurm=False)
        assert fault.startswith(f"error {name} (line 2): separates name and value with ':'")

    def test_a_file_of_another_program_is_let_be(self, folder: Path) -> None:
        write(folder, "etc/enroot.conf", b"ENROOT_CACHE_PATH: /x\n")
        assert check(folder, service_configures_slurm=False) == []


def test_symbolic_links_are_refused(folder: Path) -> None:
    write(folder, "step.sh", ENTRY)
    (folder / "link.sh").symlink_to("step.sh")
    (folder / "out").symlink_to("/etc")
    faults = check(folder)
    assert [fault.split(":")[0] for fault in faults] == ["error link.sh", "error out"]
    assert "is a symbolic link to '/etc', and S3 has no links" in faults[1]


def test_names_that_are_no_text_are_refused(folder: Path) -> None:
    write(folder, "a\nb.txt", b"x\n")
    write(folder, os.fsdecode(b"\xff.txt"), b"x\n")
    write(folder, "größe $(x).txt", b"x\n")
    assert sorted(check(folder)) == [
        "error 'a\\nb.txt': has a control character in its name; rename it",
        "error \\udcff.txt: has a name that is not UTF-8, as keys in S3 are; rename it",
    ]


def test_all_faults_at_once(folder: Path) -> None:
    write(folder, "a.sh", b"echo a\r\n")
    write(folder, "b.sh", b"#!/bin/bash\nsrun \\ # x")
    assert len(check(folder, "missing.sh")) == 5


class TestPackageInstallation:
    @pytest.mark.parametrize(
        "line",
        [
            "apt-get install -y htop",
            "sudo apt update",
            "DEBIAN_FRONTEND=noninteractive apt-get -y -qq install nfs-common",
            "if ! apt-get -o Acquire::Retries=3 update; then exit 1; fi",
            "cd / && sudo DEBIAN_FRONTEND=noninteractive apt-get full-upgrade",
        ],
    )
    def test_is_found(self, folder: Path, line: str) -> None:
        write(folder, "steps/packages.sh", f"#!/bin/bash\nset -e\n{line}\n".encode())
        found = find_package_installation(folder)
        assert found is not None
        assert str(found).startswith("steps/packages.sh (line 3): runs apt")

    @pytest.mark.parametrize(
        "line",
        ["# apt-get install htop", "apt-get clean", "echo 'apt-get install'", "apt-cache policy install"],
    )
    def test_is_not_seen_where_nothing_is_fetched(self, folder: Path, line: str) -> None:
        write(folder, "steps/packages.sh", f"#!/bin/bash\n{line}\n".encode())
        assert find_package_installation(folder) is None

    def test_own_scripts_fetch_nothing(self) -> None:
        assert find_package_installation(scripts_folder()) is None
