"""Settings that give no scoring law are refused before anything is opened."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hyphaedb.config import Config
from hyphaedb.errors import Invalid
from hyphaedb.mesh import Home


@pytest.mark.parametrize(
    ("setting", "remedy"),
    [
        ({"weights": "paperr"}, "shipped, paper or three numbers"),
        ({"weights": "0.5/0.5"}, "shipped, paper or three numbers"),
        ({"weights": "inf/0/0"}, "shipped, paper or three numbers"),
        ({"weights": "0.9/0.9/0.9"}, "sum is 1000"),
        ({"calibration": "panels"}, "panel or fixed"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
async def test_a_misspelt_law_opens_no_home(
    tmp_path: Path, setting: dict[str, Any], remedy: str
) -> None:
    """Only workers read it, so stores would be accepted and no wave would ever run."""
    with pytest.raises(Invalid) as refused:
        await Home.open(replace(Config(data_dir=str(tmp_path / "data")), **setting))
    assert remedy in refused.value.remedy
