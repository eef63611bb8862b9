"""Defaults that stand in two places, because neither may import the other, say the same.

`config` is what a user may set; `protocol` is complete without it and knows what was chosen, why.
"""

from __future__ import annotations

import inspect

import pytest

from hyphaedb.config import SETTINGS, Config
from hyphaedb.engine.law import weights_of
from hyphaedb.protocol import calibration, decay, energy, fusion, relevance

CONFIG = Config()
ENERGY = inspect.signature(energy.initial_energy_micro).parameters


@pytest.mark.parametrize(
    ("setting", "chosen"),
    [
        (CONFIG.gate, relevance.SIGMA_MIN),
        (CONFIG.relay_min, relevance.RELAY_MIN),
        (CONFIG.energy_base, ENERGY["e_base"].default),
        (CONFIG.dormancy, decay.DORMANT_BELOW),
        (CONFIG.recall_floor, fusion.SHIPPED.floor),
        (CONFIG.panel_size, calibration.PANEL_CELLS),
    ],
)
def test_a_setting_starts_from_what_the_protocol_ships(setting: float, chosen: float) -> None:
    assert setting == chosen


def test_the_shipped_weights_are_those_of_the_protocol() -> None:
    assert weights_of(CONFIG) == relevance.SHIPPED


def test_every_default_lies_within_its_own_range() -> None:
    for setting in SETTINGS:
        value = getattr(CONFIG, setting.name)
        if setting.least is not None:
            assert setting.least <= value, setting.name
        if setting.most is not None:
            assert value <= setting.most, setting.name
