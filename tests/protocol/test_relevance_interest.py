"""Interest: footprints vote, declarations speak, and neither is louder than it should be."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from hyphaedb.protocol.calibration import Baseline, baseline, calibrate
from hyphaedb.protocol.geometry import position
from hyphaedb.protocol.interest import claim, declared_interest, earned_interest, interest
from hyphaedb.protocol.relevance import delivers, receiver_relevance, score
from tests.protocol.graphs import normalised

#: With this yardstick a cosine of 0.5 stands at z = 5, one of 0.2 at z = 2.
BASE = Baseline(mean=0.0, deviation=0.1)

Floats = NDArray[np.float64]


def earned(
    cosines: list[float], touches: list[tuple[int, int]], n: int, deaf: tuple[int, ...] = ()
) -> Floats:
    """Earned interest where each touch (cell, holder) weighs 1."""
    places, holders = np.array(touches, dtype=np.int64).reshape(-1, 2).T
    receives = np.array([h not in deaf for h in range(n)])
    weights = np.ones(len(places))
    return earned_interest(np.array(cosines), BASE, places, holders, weights, receives)


def test_whoever_touched_the_whole_neighbourhood_is_fully_interested() -> None:
    assert earned([0.5, 0.45, 0.0], [(0, 0), (1, 0), (2, 1)], 2)[0] > 0.95


def test_two_who_touched_the_same_cell_do_not_share_its_vote() -> None:
    alone = earned([0.5], [(0, 0)], 1)
    both = earned([0.5], [(0, 0), (0, 1)], 2)
    assert both.tolist() == [alone[0], alone[0]]


def test_cells_nobody_touched_do_not_dilute_the_vote() -> None:
    few = earned([0.5, 0.3], [(0, 0), (1, 1)], 2)
    many = earned([0.5, 0.3] + [0.55] * 200, [(0, 0), (1, 1)], 2)
    assert many.tolist() == few.tolist()


def test_cells_of_a_feed_that_never_receives_do_not_dilute_the_vote() -> None:
    plain = earned([0.5, 0.3], [(0, 0), (1, 1)], 3)
    feed = [(i, 2) for i in range(2, 202)]
    fed = earned([0.5, 0.3] + [0.55] * 200, [(0, 0), (1, 1), *feed], 3, deaf=(2,))
    assert fed.tolist() == plain.tolist()


def test_the_author_of_a_place_keeps_a_stranger_from_owning_it() -> None:
    """Holder 0 writes where all near cells are its own; holder 1 has only been seen far off."""
    cosines = [0.5] * 20 + [0.25] * 20
    touches = [(i, 0) for i in range(20)] + [(i, 1) for i in range(20, 40)]
    assert earned(cosines, touches, 2)[1] < 0.05


def test_a_chance_neighbour_in_a_tiny_mesh_is_outvoted_by_nobody() -> None:
    assert earned([0.18, 0.0, -0.05], [(0, 0), (1, 1), (2, 2)], 3).max() < 0.35


def test_many_far_cells_do_not_add_up_to_a_near_one() -> None:
    far = earned([0.08] * 80, [(i, 0) for i in range(80)], 1)
    near = earned([0.4], [(0, 0)], 1)
    assert far[0] < 0.25 < 0.9 < near[0]


def test_only_the_eighty_nearest_touched_cells_vote() -> None:
    cosines = [0.4] * 80 + [0.3] * 500
    touches = [(i, 0) for i in range(80)] + [(i, 1) for i in range(80, 580)]
    assert earned(cosines, touches, 2)[1] == 0.0


def test_all_cells_that_tie_for_the_last_seat_vote() -> None:
    cosines = [0.4] * 100
    forward = earned(cosines, [(i, int(i >= 50)) for i in range(100)], 2)
    assert forward[0] == forward[1] > 0.4


def test_a_weaker_footprint_earns_less() -> None:
    cosines, places, holders = np.array([0.4, 0.4]), np.array([0, 1]), np.array([0, 1])
    receives = np.ones(2, dtype=np.bool_)
    iota = earned_interest(cosines, BASE, places, holders, np.array([1.0, 0.25]), receives)
    assert iota[1] == pytest.approx(iota[0] / 4)


def test_a_footprint_of_weight_nothing_is_none() -> None:
    receives = np.ones(1, dtype=np.bool_)
    iota = earned_interest(
        np.array([0.5]), BASE, np.array([0]), np.array([0]), np.array([0.0]), receives
    )
    assert iota.tolist() == [0.0]


def test_a_wave_that_settled_nothing_earns_nothing() -> None:
    assert earned([], [], 3).tolist() == [0.0, 0.0, 0.0]


def test_the_order_of_cells_and_footprints_changes_no_score() -> None:
    rng = np.random.default_rng(3)
    cosines = rng.uniform(0.0, 0.6, 300)
    places, holders = np.repeat(np.arange(300), 2), rng.integers(0, 40, 600)
    receives, r = np.ones(40, dtype=np.bool_), np.zeros(40)
    cells, marks = rng.permutation(300), rng.permutation(600)
    moved_to = np.argsort(cells)
    one = earned_interest(cosines, BASE, places, holders, np.ones(600), receives)
    two = earned_interest(
        cosines[cells], BASE, moved_to[places][marks], holders[marks], np.ones(600), receives
    )
    assert score(r, one, 0.7).tolist() == score(r, two, 0.7).tolist()


@pytest.mark.parametrize(
    ("tags", "types", "text", "answer"),
    [
        ((), (), False, (False, False)),
        ((), (), True, (False, True)),
        (("PROJ-1",), (), False, (True, False)),
        (("PROJ-2",), (), False, (False, False)),
        (("PROJ-1",), ("fact",), False, (False, False)),
        (("PROJ-2",), ("decision",), True, (False, True)),
        ((), ("decision",), False, (True, False)),
        ((), ("decision",), True, (False, True)),
        ((), ("fact",), True, (False, False)),
    ],
)
def test_what_an_interest_says_of_a_decision_tagged_proj_1(
    tags: tuple[str, ...], types: tuple[str, ...], text: bool, answer: tuple[bool, bool]
) -> None:
    assert claim(set(tags), set(types), text, {"PROJ-1"}, "decision") == answer


def test_a_text_speaks_only_where_it_was_asked() -> None:
    cosines = np.array([0.9, 0.9, 0.0])
    named, asks = np.array([False, False, True]), np.array([True, False, False])
    iota = declared_interest(cosines, BASE, named, asks)
    assert iota[0] > 0.99
    assert iota[1:].tolist() == [0.0, 1.0]


def test_interest_is_the_larger_of_declared_and_earned() -> None:
    known = np.ones(2, dtype=np.bool_)
    iota = interest(np.array([0.2, 0.7]), np.array([0.6, 0.1]), np.array([0.9, 0.9]), known, 0.0)
    assert iota.tolist() == [0.6, 0.7]


def test_position_speaks_for_those_of_whom_nothing_else_is_known() -> None:
    known, none = np.array([True, False]), np.zeros(2)
    assert interest(none, none, np.array([0.8, 0.8]), known, 0.0).tolist() == [0.0, 0.8]


def test_in_a_young_mesh_position_speaks_for_everybody() -> None:
    known, none = np.ones(1, dtype=np.bool_), np.zeros(1)
    assert interest(none, none, np.array([0.8]), known, 0.5).tolist() == [0.4]


@pytest.mark.parametrize("agents", [2, 5, 50, 500])
def test_in_a_mesh_of_any_size_a_diff_finds_the_one_who_works_there(agents: int) -> None:
    """Each agent has twelve cells on a subject of its own; a diff on each of ten is pushed."""
    rng = np.random.default_rng(agents)
    subjects = rng.normal(size=(agents, 384))
    rows = normalised(np.repeat(subjects, 12, axis=0) + rng.normal(size=(12 * agents, 384)))
    holders = np.repeat(np.arange(agents), 12)
    panel = rows[rng.choice(len(rows), min(256, len(rows)), replace=False)]
    calibration = calibrate(panel, normalised(rng.normal(size=(256, 384))))
    stands = [position(rows[holders == a], np.ones(12), np.zeros(12), 0.1) for a in range(agents)]
    places = np.stack([p for p in stands if p is not None])
    everyone = np.ones(agents, dtype=np.bool_)
    for subject in range(min(agents, 10)):
        diff = normalised(subjects[subject] + rng.normal(size=384))
        base = baseline(diff, calibration)
        r = receiver_relevance(places @ diff, base, everyone)
        iota = earned_interest(
            rows @ diff, base, np.arange(len(rows)), holders, np.ones(len(rows)), everyone
        )
        iota = interest(np.zeros(agents), iota, r, everyone, 1.0 - calibration.own_share)
        assert np.flatnonzero(delivers(score(r, iota, 0.7))).tolist() == [subject]
