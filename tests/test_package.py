"""What is built is what is in the tree: a wheel that lacks a query file fails at its first user."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[1]
SOURCE: Final = ROOT / "src"
PROJECT: Final = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names in a wheel built from this tree."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=100)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_the_wheel_holds_every_file_of_the_package_and_no_other(packed: set[str]) -> None:
    """Queries, migrations, the vocabulary and the demo's sample among them."""
    there = {
        path.relative_to(SOURCE).as_posix()
        for path in (SOURCE / "hyphaedb").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert {name for name in packed if name.startswith("hyphaedb/")} == there
    assert all(name.startswith(("hyphaedb/", "hyphaedb-0")) for name in packed)


def test_the_wheel_carries_its_licence_and_what_it_owes_to_others(packed: set[str]) -> None:
    assert {name.rpartition("/")[2] for name in packed} >= {"LICENSE", "NOTICE"}


def test_the_pinned_versions_name_no_registry() -> None:
    """Whoever installs says where from."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert pins
    assert not [line for line in pins if "==" not in line or "/" in line or "@" in line]


def test_every_package_the_project_names_is_pinned() -> None:
    pinned = {
        line.partition("==")[0].lower().replace("_", "-")
        for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    }
    extras = PROJECT["project"]["optional-dependencies"].values()
    asked = [*PROJECT["project"]["dependencies"], *(name for extra in extras for name in extra)]
    names = {requirement.partition(";")[0].strip() for requirement in asked}
    bare = {name.split("[")[0].split(">")[0].split("=")[0].strip().lower() for name in names}
    assert bare <= pinned


def test_the_layers_that_the_architecture_draws_are_the_ones_the_build_enforces() -> None:
    (contract,) = (
        contract
        for contract in PROJECT["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers"
    )
    enforced = [layer.replace("(", "").replace(")", "") for layer in contract["layers"]]
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    drawn = page.partition("## Layers")[2].partition("##")[0]
    rows = [line.strip() for line in drawn.splitlines() if line.startswith("    ")]
    assert [row.split("  ")[0] for row in rows] == enforced
