"""The documentation cannot lie: what it names exists, its links lead somewhere, its code runs."""

from __future__ import annotations

import ast
import importlib
import os
import re
import subprocess
import sys
import textwrap
from dataclasses import fields
from pathlib import Path
from typing import Final

import pytest

from docs import generate
from hyphaedb.config import SETTINGS, Config

ROOT: Final = Path(__file__).resolve().parents[1]
PAGES: Final = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
FENCE: Final = re.compile(r"^```(?P<kind>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK: Final = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s]+)\)")
PROTOCOL_NAME: Final = re.compile(r"`(?P<name>protocol\.[a-z_]+\.[A-Za-z_.]+)`")

# What must stand in no committed text: a machine's own paths, a registry's address, a ticket in
# place of a reason, and words that promise instead of telling.
FORBIDDEN: Final = {
    "a path of one machine": re.compile(r"(?<![\w.*])/(?:root|home|Users|work)/\w"),
    "the address of a package registry": re.compile(r"(?:pypi|pythonhosted|npmjs)\.(?:org|com)"),
    "a ticket instead of a reason": re.compile(r"\b(?:issue|ticket) #?\d", re.IGNORECASE),
    "a promise instead of a fact": re.compile(
        r"\b(?:blazing|cutting-edge|seamless|leverag|state-of-the-art|world-class|game-chang)",
        re.IGNORECASE,
    ),
    # Except where onnx gave a module of its own that name.
    "a word that names nothing": re.compile(
        r"^(?!.*\bonnx\b).*\bhelpers?\b(?!\.make_)", re.IGNORECASE
    ),
}
TEXT_SUFFIXES: Final = {".md", ".py", ".sql", ".toml", ".txt", ".yml", ".yaml", ""}
#: Words of other people: a vocabulary is data, and our own text follows no rule of theirs.
NOT_OURS: Final = {"LICENSE", "vocab.txt"}
#: The two files that must spell what they forbid.
LAWS: Final = {"test_docs.py", "test_shape.py"}


def page_id(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def blocks(path: Path) -> list[tuple[str, str]]:
    """The fenced blocks of a page: what follows the fence, and the text."""
    text = path.read_text(encoding="utf-8")
    return [(found["kind"].strip(), found["text"]) for found in FENCE.finditer(text)]


def anchors(path: Path) -> set[str]:
    """The headings of a page, spelled as links spell them."""
    prose = FENCE.sub("", path.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ (.+)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def committed() -> list[Path]:
    """Every text of the project that git knows or would take."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\n")
    paths = [ROOT / name for name in listed if name]
    texts = [path for path in paths if path.suffix in TEXT_SUFFIXES and path.is_file()]
    return [path for path in texts if path.name not in NOT_OURS | LAWS]


def test_every_setting_is_described_once_and_every_description_has_a_setting() -> None:
    assert [setting.name for setting in SETTINGS] == [field.name for field in fields(Config)]


def test_every_default_lies_in_the_range_its_description_gives() -> None:
    config = Config()
    for setting in SETTINGS:
        value = getattr(config, setting.name)
        assert setting.least is None or value >= setting.least, setting.name
        assert setting.most is None or value <= setting.most, setting.name


@pytest.mark.parametrize("name", generate.PAGES)
def test_a_generated_page_is_what_the_code_says(name: str) -> None:
    assert name not in generate.stale(), generate.stale()[name]


def test_a_page_that_was_edited_by_hand_is_found_stale(tmp_path: Path) -> None:
    for name, page in generate.PAGES.items():
        (tmp_path / name).write_text(page() + "by hand\n", encoding="utf-8")
    assert set(generate.stale(tmp_path)) == set(generate.PAGES)


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_every_link_within_the_project_resolves(page: Path) -> None:
    for found in LINK.finditer(FENCE.sub("", page.read_text(encoding="utf-8"))):
        target = found["target"]
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        there = (page.parent / name).resolve() if name else page
        assert there.exists(), f"{page_id(page)} links to {target}"
        assert not anchor or anchor in anchors(there), f"{page_id(page)} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_every_python_block_compiles(page: Path) -> None:
    for kind, text in blocks(page):
        if kind.split()[:1] == ["python"]:
            compile(text, page_id(page), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


RUNNABLE: Final = [
    pytest.param(text, id=f"{page_id(page)}-{number}")
    for page in PAGES
    for number, (kind, text) in enumerate(blocks(page))
    if kind == "python run"
]


@pytest.mark.slow
@pytest.mark.parametrize("text", RUNNABLE)
def test_a_block_marked_run_runs_as_a_reader_would_run_it(text: str, tmp_path: Path) -> None:
    """On an embedded server of its own, whatever the tests around it use."""
    script = tmp_path / "block.py"
    body = textwrap.indent(text, "    ")
    script.write_text(f"import asyncio\n\nasync def block():\n{body}\n\nasyncio.run(block())\n")
    theirs = {name: text for name, text in os.environ.items() if not name.startswith("HYPHAEDB_")}
    environment = {**theirs, "HYPHAEDB_DATA_DIR": str(tmp_path / "data")}
    done = subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout or "print(" not in text, "it prints, so a reader expects to see something"


def test_every_function_that_the_protocol_page_names_exists() -> None:
    text = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
    names = sorted({found["name"] for found in PROTOCOL_NAME.finditer(text)})
    assert names
    missing = []
    for name in names:
        _, module, *attributes = name.split(".")
        thing: object = importlib.import_module(f"hyphaedb.protocol.{module}")
        for attribute in attributes:
            thing = getattr(thing, attribute, None)
        if thing is None:
            missing.append(name)
    assert not missing


def test_every_file_that_the_code_map_names_is_there() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    code_map = text.partition("## Code map")[2].partition("\n## ")[0]
    names = re.findall(r"`([a-z_/]+(?:\.py|/))`", code_map)
    assert names
    places = (ROOT / "src" / "hyphaedb", ROOT)
    assert not [name for name in names if not any((place / name).exists() for place in places)]


def test_the_code_map_names_every_package() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    packages = [path.parent.name for path in (ROOT / "src" / "hyphaedb").glob("*/__init__.py")]
    assert not [name for name in packages if f"`{name}/`" not in text]


def test_every_decision_is_numbered_once_and_says_what_it_costs() -> None:
    records = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    numbers = [record.name[:4] for record in records]
    assert len(set(numbers)) == len(numbers)
    for record in records:
        text = record.read_text(encoding="utf-8")
        assert re.match(r"# \d{4} ", text), record.name
        assert "\n**Cost.**" in text, f"{record.name} does not say what it costs"


@pytest.mark.parametrize("reason", FORBIDDEN)
def test_no_committed_text_holds(reason: str) -> None:
    found = [
        f"{page_id(path)}:{number}: {line.strip()[:100]}"
        for path in committed()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if FORBIDDEN[reason].search(line)
    ]
    assert not found, f"{reason}:\n" + "\n".join(found)
