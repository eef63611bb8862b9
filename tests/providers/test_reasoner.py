"""A reasoner's answers refuse to make no sense."""

from __future__ import annotations

import pytest

from hyphaedb.model import CellType
from hyphaedb.providers.reasoner import Direction, ExtractedCell, Label, Title, Verdict


@pytest.mark.parametrize("label", list(Label))
def test_only_a_supersession_has_a_direction(label: Label) -> None:
    supersedes = label is Label.SUPERSEDES
    fitting = Direction.FIRST_REPLACES if supersedes else Direction.NONE
    wrong = Direction.NONE if supersedes else Direction.FIRST_REPLACES
    assert Verdict(label, fitting, 0.9, "both name the same port").label is label
    with pytest.raises(ValueError, match="direction"):
        Verdict(label, wrong, 0.9, "both name the same port")


@pytest.mark.parametrize("confidence", [-0.1, 1.1, float("nan")])
def test_a_confidence_lies_between_0_and_1(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence"):
        Verdict(Label.COMPATIBLE, Direction.NONE, confidence, "no overlap")


def test_an_extracted_cell_has_words() -> None:
    with pytest.raises(ValueError, match="body"):
        ExtractedCell(" ", CellType.FACT, 0.5, 0.5, quote="")


def test_a_title_is_one_line() -> None:
    with pytest.raises(ValueError, match="one line"):
        Title("Rate\nlimits")
