"""What a receiver cares about: declared at registration, or earned by what it touched.

Idea: a position is the mean of everything an agent does, and the mean of several topics is none
of them. A *footprint* (cells an agent created, confirmed, or recalled and then used) keeps them
apart. A diff interests those whose footprints lie where it lands: the nearest settled cells vote,
each for all who touched it.

Departures from the paper, whose ι is only declared (Algorithm 1, line 9). The share is not
divided among those who touched the same cell: five may all be concerned. Three things bound it. A
cell nobody who receives has touched (an import, a tool's feed) has no vote, for it can name
nobody. The author's cells do vote, though only against: they say the place is the author's own.
Without them, of two agents each would receive all the other writes. And in an empty region the
least far would win; so one silent vote is always cast for nobody, and a share counts only as far
as the holder's own nearest cell is near.

The cost of the law: where many agents work on one thing in separate cells, or one of them writes
nearly all of it, the others have little of the neighbourhood and do not receive. They should share
a role, confirm what they build on, or declare.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hyphaedb.protocol.calibration import Baseline, standardise
from hyphaedb.protocol.relevance import NEAR_PANEL, nearness

#: Cells that vote. From 20 to 80 the answer hardly changes; 80 is kind to thin regions.
VOTERS_MAX: Final = 80

#: The exponent of z. 4 to 6 do alike; for MiniLM 5 equals the eighth power of the cosine.
VOTE_POWER: Final = 5

#: The vote for nobody, as of one cell at z = 2: in a mesh of five cells most diffs find such a one
#: by chance. It is 2^5, against 3,100 for a cell at z = 5, so a grown mesh does not feel it.
SILENT_VOTE: Final = 32.0

#: Where a share counts half. Far below `NEAR_PANEL`: the share has already weighed the distance,
#: this only keeps many far cells from adding up to a near one.
NEAR_FOOTPRINT: Final = 1.0

Vectors = NDArray[Any]


def earned_interest(
    settled_cosines: Vectors,
    base: Baseline,
    places: NDArray[np.integer[Any]],
    holders: NDArray[np.integer[Any]],
    weights: Vectors,
    receives: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Earned ι of every holder (n,), in [0, 1); 0 for those without a footprint among the voters.

    ``settled_cosines`` (m,) are those of the cells the wave settled, without the diff's own cell.
    A footprint is three parallel entries: its cell as a place in that list, its holder, its weight
    in [0, 1]; a pair of cell and holder occurs once. ``receives`` (n,) is false for holders that
    never receive (an import, a tool); theirs do not count. The author's count like any other's,
    and it is for the caller not to deliver to the author. The order of cells and footprints
    does not matter beyond the rounding of a float sum.
    """
    counts = ((weights > 0.0) & receives.take(holders)).nonzero()[0]
    places, holders, weights = places.take(counts), holders.take(counts), weights.take(counts)
    z = standardise(settled_cosines, base)
    voting = np.zeros(len(z), dtype=np.bool_)
    voting[places] = True
    voters = voting.nonzero()[0]
    ranked = z.take(voters)
    if len(ranked) > VOTERS_MAX:
        # Cells that tie for the last seat all vote: which of them came first must not matter.
        seated = ranked >= np.partition(ranked, -VOTERS_MAX)[-VOTERS_MAX]
        voters, ranked = voters.compress(seated), ranked.compress(seated)
    # Few of many cells vote, and a power is dear; those without a vote still have their place.
    votes = np.zeros(len(z))
    votes[voters] = np.maximum(ranked, 0.0) ** VOTE_POWER
    given = votes.take(places)
    cast = given.nonzero()[0]
    touched = np.bincount(
        holders.take(cast), weights=given.take(cast) * weights.take(cast), minlength=len(receives)
    )
    nearest = np.full(len(receives), -np.inf)
    np.maximum.at(nearest, holders, z.take(places))
    share = touched / (float(votes.sum()) + SILENT_VOTE)
    return np.asarray(share * nearness(nearest, NEAR_FOOTPRINT))


def claim(
    tags: Set[str], types: Set[str], has_text: bool, cell_tags: Set[str], cell_type: str
) -> tuple[bool, bool]:
    """Whether an interest names a cell outright, and whether its text may speak for it.

    A tag in common names the cell. Types narrow what the rest says; alone they name every cell of
    these types. So with types that leave the cell's type out both answers are no.
    """
    if types and cell_type not in types:
        return False, False
    only_types = bool(types) and not tags and not has_text
    return only_types or not tags.isdisjoint(cell_tags), has_text


def declared_interest(
    text_cosines: Vectors,
    base: Baseline,
    named: NDArray[np.bool_],
    asks_text: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Declared ι of receivers (n,), in [0, 1].

    ``text_cosines`` (n,) are those of the interests' texts (any value where there is none);
    ``named`` and ``asks_text`` are the two answers of `claim` for each receiver.
    """
    by_text = nearness(standardise(text_cosines, base), NEAR_PANEL)
    return np.where(named, 1.0, np.where(asks_text, by_text, 0.0))


def interest(
    declared: Vectors,
    earned: Vectors,
    r: Vectors,
    known: NDArray[np.bool_],
    youth: float,
) -> NDArray[np.float64]:
    """ι of receivers (n,), in [0, 1]: the largest of what is declared, earned and stood for.

    ``known`` is false for receivers that have touched no cell of the mesh and declared nothing;
    their position alone speaks, ι = r. For the others r counts as far as the mesh is young
    (``youth`` in [0, 1], 1 - `Calibration.own_share`): a share of five footprints says little, and
    the nearest one would take it all.
    """
    stood_for = np.where(known, youth, 1.0) * np.asarray(r, dtype=np.float64)
    return np.asarray(np.maximum(np.maximum(declared, earned), stood_for))
