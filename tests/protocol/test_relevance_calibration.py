"""The yardstick: the same law for every embedding model, every subject and every age of a mesh."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from hyphaedb.errors import Invalid
from hyphaedb.protocol.calibration import (
    MATURE_CELLS,
    PANEL_CELLS,
    Baseline,
    baseline,
    calibrate,
    declared_baseline,
    standardise,
)
from hyphaedb.protocol.geometry import to_grid
from hyphaedb.protocol.relevance import relevance
from tests.protocol.graphs import normalised

Rows = NDArray[np.float32]
NO_ROWS: Rows = np.zeros((0, 64), np.float32)


def about(subject: int, n: int, seed: int, spread: float = 1.0) -> Rows:
    """n unit rows around one of many fixed subjects; their mutual cosines are about 0.5."""
    centre = np.random.default_rng(1_000 + subject).normal(size=64)
    noise = np.random.default_rng(seed).normal(size=(n, 64))
    return normalised(centre + spread * noise)


def mixed(n: int, seed: int) -> Rows:
    return np.concatenate([NO_ROWS, *(about(s, 1, seed + s) for s in range(n))])


SHIPPED = mixed(256, seed=7)


def test_z_counts_deviations_above_the_mean() -> None:
    assert standardise(np.array([0.1, 0.4]), Baseline(0.1, 0.15)).tolist() == pytest.approx([0, 2])


def test_a_new_mesh_is_measured_by_the_shipped_panel() -> None:
    calibration = calibrate(NO_ROWS, SHIPPED)
    assert calibration.own_share == 0.0
    found = baseline(about(3, 1, 99)[0], calibration)
    assert abs(found.mean) < 0.1


def test_a_grown_mesh_is_measured_by_itself_alone() -> None:
    own = mixed(MATURE_CELLS, seed=9)
    diff = about(3, 1, 99)[0]
    assert baseline(diff, calibrate(own, SHIPPED)) == baseline(diff, calibrate(own, None))


def test_the_older_a_mesh_the_less_the_shipped_panel_says() -> None:
    shares = [calibrate(mixed(n, 9), SHIPPED).own_share for n in (0, 1, 8, 50, 199, 200, 256)]
    assert shares == sorted(shares)
    assert shares[2] == 0.5
    assert shares[-2:] == [1.0, 1.0]


def test_in_a_mesh_about_one_subject_the_subject_alone_is_no_news() -> None:
    own = about(3, PANEL_CELLS, seed=5)
    diff, other = about(3, 2, seed=99)
    cosine = np.array([float(diff @ other)])
    assert relevance(cosine, baseline(diff, calibrate(own)))[0] < 0.1
    assert relevance(cosine, baseline(diff, calibrate(mixed(PANEL_CELLS, 5))))[0] > 0.5


def test_a_model_whose_cosines_are_all_high_gives_the_same_z() -> None:
    """A direction shared by all texts lifts every cosine; the yardstick takes it out."""
    own, diff = mixed(PANEL_CELLS, 5), about(3, 1, 99)[0]
    lift = np.full((1, 1), 1.5)
    lifted_own = normalised(np.hstack([own, np.repeat(lift, len(own), 0)]))
    lifted_diff = normalised(np.hstack([diff[None, :], lift]))[0]
    near = about(3, 1, 41)[0]
    lifted_near = normalised(np.hstack([near[None, :], lift]))[0]
    plain = standardise(np.array([diff @ near]), baseline(diff, calibrate(own)))
    lifted = standardise(
        np.array([lifted_diff @ lifted_near]), baseline(lifted_diff, calibrate(lifted_own))
    )
    assert float(lifted_diff @ lifted_own[0]) > 0.6
    assert lifted[0] == pytest.approx(plain[0], abs=0.05)


def test_a_foreign_diff_is_not_measured_by_an_easier_yardstick() -> None:
    """What lies far from the whole mesh finds no near cell in it, only less far ones."""
    own = about(3, PANEL_CELLS, seed=5)
    calibration = calibrate(own)
    foreign = about(40, 1, 99)[0]
    cosines = own @ foreign
    assert (cosines.max() - cosines.mean()) / cosines.std() > 2.0
    assert standardise(cosines, baseline(foreign, calibration)).max() < 0.0


def test_without_any_panel_only_a_repetition_is_near() -> None:
    base = baseline(about(3, 1, 99)[0], calibrate(NO_ROWS, None))
    r = relevance(np.array([0.5, 0.8, 1.0]), base)
    assert r[:2].max() < 0.2
    assert r[2] < 0.5


def test_one_text_over_and_over_does_not_make_everything_near() -> None:
    own = np.repeat(about(3, 1, 5), PANEL_CELLS, axis=0)
    base = baseline(about(3, 1, 99)[0], calibrate(own))
    assert base.deviation == 0.02


def test_the_order_of_the_panel_changes_nothing() -> None:
    own, diff = mixed(PANEL_CELLS, 5), about(3, 1, 99)[0]
    assert baseline(diff, calibrate(own)) == baseline(diff, calibrate(own[::-1].copy()))


def test_rows_on_the_grid_measure_like_float_rows() -> None:
    own, diff = mixed(PANEL_CELLS, 5), about(3, 1, 99)[0]
    exact = baseline(diff, calibrate(own))
    gridded = baseline(to_grid(diff), calibrate(to_grid(own)))
    assert gridded.mean == pytest.approx(exact.mean, abs=1e-3)
    assert gridded.deviation == pytest.approx(exact.deviation, abs=1e-3)


def test_panels_of_two_models_are_refused() -> None:
    with pytest.raises(Invalid):
        calibrate(mixed(10, 5), np.zeros((4, 32), np.float32))


@pytest.mark.parametrize("cells", [0, 4, PANEL_CELLS])
def test_a_declared_text_is_measured_alike_in_every_mesh(cells: int) -> None:
    """Else whoever names the one subject of a mesh hears nothing about it."""
    diff = about(3, 1, seed=99)[0]
    crowd = about(3, cells, seed=5) if cells else NO_ROWS
    measured = declared_baseline(diff, calibrate(crowd, SHIPPED))

    assert measured == baseline(diff, calibrate(NO_ROWS, SHIPPED))
    if cells:
        assert measured.mean < baseline(diff, calibrate(crowd, SHIPPED)).mean


def test_without_a_shipped_panel_a_declared_text_is_measured_by_the_mesh() -> None:
    diff, grown = about(3, 1, seed=99)[0], calibrate(mixed(PANEL_CELLS, seed=3), None)

    assert declared_baseline(diff, grown) == baseline(diff, grown)
