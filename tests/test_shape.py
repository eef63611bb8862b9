"""The source keeps its shape: one idea a file, short functions, no vague names, no hidden clock."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

SOURCE: Final = Path(__file__).resolve().parents[1] / "src" / "hyphaedb"
FILES: Final = sorted(SOURCE.rglob("*.py"))

FILE_LINES_MAX: Final = 350
FUNCTION_LINES_MAX: Final = 60
#: One list of nouns is one idea; cut in two, every reader would have to open both halves.
LONGER_FOR_A_REASON: Final = {"model.py": 480}

#: Names that say where a thing was put instead of what it is.
VAGUE: Final = {"base", "common", "core", "helper", "helpers", "manager", "misc", "util", "utils"}

#: The two places that may catch what nobody foresaw: they log it and go on living.
OUTERMOST: Final = ("engine/worker.py", "entrypoints/")

#: What reads a clock, mints an id or throws dice without a seed.
IMPURE: Final = {
    "monotonic", "now", "perf_counter", "time_ns", "today", "token_bytes", "token_hex",
    "utcnow", "uuid1", "uuid4", "uuid7",
}  # fmt: skip


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def nodes(path: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(path.read_text(encoding="utf-8"), filename=name_of(path)))


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_file_is_no_longer_than_a_reader_holds_in_mind(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= LONGER_FOR_A_REASON.get(name_of(path), FILE_LINES_MAX)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_function_fits_on_a_screen(path: Path) -> None:
    for node in nodes(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            lines = node.end_lineno - node.lineno + 1
            assert lines <= FUNCTION_LINES_MAX, f"{name_of(path)}: {node.name} has {lines} lines"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_file_is_named_for_its_idea(path: Path) -> None:
    assert not {path.stem, path.parent.name} & VAGUE


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_broad_except_hides_no_bug(path: Path) -> None:
    """It passes the error on, or stands in the worker loop or an outermost face."""
    if name_of(path).startswith(OUTERMOST):
        return
    for node in nodes(path):
        if not isinstance(node, ast.ExceptHandler):
            continue
        caught = ast.unparse(node.type) if node.type else "everything"
        if caught in {"everything", "Exception", "BaseException"}:
            last = node.body[-1]
            passes_on = isinstance(last, ast.Raise) and last.exc is None
            assert passes_on, f"{name_of(path)}:{node.lineno} catches {caught}"


@pytest.mark.parametrize("path", sorted((SOURCE / "protocol").rglob("*.py")), ids=name_of)
def test_the_protocol_reads_no_clock_mints_no_id_and_throws_no_dice(path: Path) -> None:
    """Imports alone cannot show it: datetime and uuid are types there, never sources."""
    for node in nodes(path):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert called.rpartition(".")[2] not in IMPURE, (
                f"{name_of(path)}:{node.lineno} {called}"
            )
            unseeded = called.endswith("default_rng") and not node.args and not node.keywords
            assert not unseeded, f"{name_of(path)}:{node.lineno} takes no seed"
