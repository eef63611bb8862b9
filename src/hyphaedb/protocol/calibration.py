"""What a cosine is worth in this mesh: the panel, and distances in its standard deviations.

Idea: a cosine means nothing by itself. Two unrelated texts score near 0.1 under one embedding
model and near 0.75 under another, and a mesh about one subject lies closer together than a mesh
about ten. So a diff is first compared with a fixed *panel* of cells of the same mesh, and every
later cosine is read as z: how many standard deviations it stands above the panel's mean.

A diff about something the mesh has never heard of lies far from the whole panel, and with so low
a yardstick its nearest strangers would look near. So mean and deviation have *floors*: no diff is
measured by an easier yardstick than 95 of 100 of the mesh's own cells are.

A departure from the paper, whose gate compares raw cosines (section 4.2). It costs one product of
the diff with the panel, about 50 µs for 384 numbers.

A text by which an agent declares its interest is measured by the shipped panel alone. It speaks of
the world and not of the mesh: where every cell is about the API, whoever asked for the API means
all of them. By the mesh's own yardstick names of teams found 1 to 6 of 100 cells of theirs in a
grown mesh, by this one 9 to 31 (docs/decisions/0013-declared-texts.md).

A young mesh has too few cells to be its own yardstick: three of the first five may be about the
very thing that is being told. Until it has `MATURE_CELLS` its panel is mixed with the one that
ships with the embedder, whose weight is that of `PRIOR_CELLS` cells. The means are mixed and the
deviations are mixed; pooling both panels would count the distance between them as spread and
silence a mesh with one subject until the day it matures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hyphaedb.errors import Invalid
from hyphaedb.protocol.geometry import cosine

#: Cells in a drawn panel: 256 of them know a standard deviation to about 4.5 %.
PANEL_CELLS: Final = 256

#: From here on a mesh's own panel speaks alone.
MATURE_CELLS: Final = 200

#: How many of the mesh's own cells the shipped panel weighs as much as.
PRIOR_CELLS: Final = 8

#: The share of a panel's cells that would be measured by less than the floor. At 0.05 the floors
#: change nothing for a mesh's own subjects and silence two of three foreign diffs that would
#: have been delivered; at 0.25 they begin to silence its own.
FLOOR_SHARE: Final = 0.05

#: Below this a deviation says the panel is one text over and over, not that the mesh is narrow.
DEVIATION_LEAST: Final = 0.02

#: Without any panel only a repetition is near: the baseline of an embedder nobody knows yet.
UNKNOWN_MEAN: Final = 0.5
UNKNOWN_DEVIATION: Final = 0.25

Vectors = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Baseline:
    """Mean and standard deviation of a diff's cosines with unrelated cells."""

    mean: float
    deviation: float


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """The yardstick of one mesh at one time; two of them are compared by identity.

    ``mesh`` (n, d) are unit rows of the mesh's own cells, ``shipped`` (m, d) those of the
    embedder's panel (either may have no rows), ``own_share`` in [0, 1] is the weight of ``mesh``.
    ``floor`` is the least baseline a diff is measured by, ``shipped_floor`` that of declared texts.
    """

    mesh: Vectors
    shipped: Vectors
    own_share: float
    floor: Baseline
    shipped_floor: Baseline


_UNKNOWN: Final = Baseline(UNKNOWN_MEAN, UNKNOWN_DEVIATION)
_NO_FLOOR: Final = Baseline(0.0, 0.0)


def calibrate(mesh_panel: Vectors, shipped_panel: Vectors | None = None) -> Calibration:
    """The calibration for a drawn panel of the mesh and the embedder's own panel.

    ``mesh_panel`` holds up to `PANEL_CELLS` unit rows drawn from the mesh, so all its cells while
    it is young; its length is how the mesh's age is known. None or no rows as ``shipped_panel``
    means the embedder ships none; the unknown baseline then stands in for it. Raises Invalid when
    the two differ in dimension.
    """
    shipped = mesh_panel[:0] if shipped_panel is None else shipped_panel
    if mesh_panel.ndim != 2 or shipped.ndim != 2 or mesh_panel.shape[1] != shipped.shape[1]:
        raise Invalid(
            f"Panels of shape {mesh_panel.shape} and {shipped.shape} do not belong together.",
            "Give both panels as rows of the mesh's own embedding model.",
        )
    n = len(mesh_panel)
    share = 1.0 if n >= MATURE_CELLS else n / (n + PRIOR_CELLS)
    own, lent = _floor(mesh_panel), _floor(shipped)
    return Calibration(mesh_panel, shipped, share, _mixed(own, lent, share), lent)


def baseline(diff: Vectors, calibration: Calibration) -> Baseline:
    """How near the diff (d,) is to unrelated cells: what its other cosines are measured by."""
    return _measured(diff, calibration, calibration.own_share, calibration.floor)


def declared_baseline(diff: Vectors, calibration: Calibration) -> Baseline:
    """How near the diff (d,) is to unrelated texts anywhere: what declared texts are measured by.

    Where the embedder ships no panel the mesh's own yardstick has to do.
    """
    if len(calibration.shipped) == 0:
        return baseline(diff, calibration)
    return _measured(diff, calibration, 0.0, calibration.shipped_floor)


def standardise(cosines: Vectors, base: Baseline) -> NDArray[np.float64]:
    """z of each cosine, same shape: standard deviations above the panel's mean."""
    z = (np.asarray(cosines, dtype=np.float64) - base.mean) / base.deviation
    return np.asarray(z, dtype=np.float64)


def _measured(diff: Vectors, calibration: Calibration, share: float, floor: Baseline) -> Baseline:
    # A panel without weight need not be compared with.
    own = _UNKNOWN if share == 0.0 else _moments(diff, calibration.mesh)
    lent = own if share == 1.0 else _moments(diff, calibration.shipped)
    found = _mixed(own, lent, share)
    return Baseline(max(found.mean, floor.mean), max(found.deviation, floor.deviation))


def _mixed(own: Baseline, lent: Baseline, own_share: float) -> Baseline:
    return Baseline(
        own_share * own.mean + (1.0 - own_share) * lent.mean,
        max(
            own_share * own.deviation + (1.0 - own_share) * lent.deviation,
            DEVIATION_LEAST,
        ),
    )


def _moments(diff: Vectors, panel: Vectors) -> Baseline:
    if len(panel) == 0:
        return _UNKNOWN
    return _spread(cosine(diff, panel))


def _floor(panel: Vectors) -> Baseline:
    """The yardsticks of the panel's own cells, each against the others, at `FLOOR_SHARE`."""
    if len(panel) < 2:
        return _NO_FLOOR
    n = len(panel)
    among = np.stack([cosine(row, panel) for row in panel])
    others = np.sort(among[~np.eye(n, dtype=np.bool_)].reshape(n, n - 1), axis=1)
    wide = others.astype(np.float64)
    return Baseline(
        float(np.quantile(wide.mean(axis=1), FLOOR_SHARE)),
        float(np.quantile(wide.std(axis=1), FLOOR_SHARE)),
    )


def _spread(cosines: Vectors) -> Baseline:
    # Sorted, so that the sums and with them every score do not depend on the panel's order.
    ordered = np.sort(cosines).astype(np.float64)
    return Baseline(float(ordered.mean()), float(ordered.std()))
