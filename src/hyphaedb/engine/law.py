"""The scoring law of one mesh at one time: protocol/relevance.py fed from the mirror."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hyphaedb.config import Config
from hyphaedb.engine.roster import Roster
from hyphaedb.engine.subject import Subject
from hyphaedb.engine.topology import Layer, Vectors
from hyphaedb.engine.touches import KNOWS, Touched
from hyphaedb.engine.waves import Ran
from hyphaedb.errors import Invalid
from hyphaedb.model import MICRO
from hyphaedb.protocol import geometry, interest, relevance
from hyphaedb.protocol.calibration import (
    Baseline,
    Calibration,
    baseline,
    calibrate,
    declared_baseline,
    standardise,
)


@dataclass(frozen=True, slots=True)
class Reading:
    """Scores of all receivers for one diff, in micro-units, by roster row."""

    scores: NDArray[np.int64]
    relevances: NDArray[np.int64]
    interests: NDArray[np.int64]
    #: Whether a declared tag or type names the cell outright: such an agent hangs on it at once.
    named: NDArray[np.bool_]
    #: Whether the score reaches the gate.
    passes: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class KnownCells:
    """Cells that some holders know, as parallel arrays of mirror rows and roster rows."""

    rows: NDArray[np.int32]
    holders: NDArray[np.int32]


def weights_of(config: Config) -> relevance.Weights:
    """The weights a setting names: shipped, paper, or three numbers r/i/s that add up to 1."""
    if config.weights == "shipped":
        return relevance.SHIPPED
    if config.weights == "paper":
        return relevance.PAPER
    try:
        parts = [round(float(p) * 1000) for p in config.weights.split("/")]
        return relevance.Weights(*parts)
    except (ValueError, TypeError, OverflowError):
        raise Invalid(
            f"HYPHAEDB_WEIGHTS is {config.weights!r}.",
            "Use shipped, paper or three numbers such as 0.25/0.65/0.10.",
        ) from None


def _fixed(config: Config, dimension: int, shipped: Vectors | None) -> Baseline | None:
    """The one yardstick of ``calibration=fixed``: how far apart unrelated texts are anywhere."""
    if config.calibration == "panel":
        return None
    if config.calibration != "fixed":
        raise Invalid(f"HYPHAEDB_CALIBRATION is {config.calibration!r}.", "Use panel or fixed.")
    return calibrate(np.zeros((0, dimension), np.int16), shipped).floor


class Law:
    """The weights and gates of the settings, and the panel cosines are read against."""

    def __init__(self, config: Config, dimension: int, shipped_panel: Vectors | None) -> None:
        self.weights = weights_of(config)
        self._sigma_min = config.gate
        self.gate = geometry.quantise_micro(config.gate)
        self.relay_min = config.relay_min
        self._decay = config.position_decay
        self._shipped = shipped_panel
        self._fixed = _fixed(config, dimension, shipped_panel)
        self._calibration: Calibration
        self.calibrate(np.zeros((0, dimension), np.int16))

    def calibrate(self, panel: NDArray[np.int16]) -> None:
        """Read cosines against these cells of the mesh from now on."""
        self._calibration = calibrate(panel, self._shipped)

    def baseline(self, vector: Vectors) -> Baseline:
        """How near a diff is to unrelated cells of this mesh."""
        return self._fixed or baseline(vector, self._calibration)

    def read(self, subject: Subject, ran: Ran, touched: Touched, roster: Roster) -> Reading:
        """σ, r and ι of every receiver; ``touched`` are the footprints on what the wave settled."""
        r, declared, named = self._nearness(subject, ran.base, roster)
        earned = self._earned(ran, touched, roster)[roster.holder_of]
        iota = self._interest(declared, earned, r, roster)
        scores = relevance.score(r, iota, subject.salience, self.weights)
        return Reading(
            scores=scores,
            relevances=geometry.quantise_micros(r),
            interests=geometry.quantise_micros(iota),
            named=named,
            passes=relevance.delivers(scores, self._sigma_min),
        )

    def ceilings(
        self, subject: Subject, layer: Layer, roster: Roster, known: KnownCells
    ) -> NDArray[np.int64]:
        """No receiver's σ for this diff can be above these (micro-units), whatever its wave does.

        A holder's earned interest is at most what the nearest of its ``known`` cells allows; so a
        sweep can leave out most diffs without running their waves. Named receivers get the top.
        """
        base = self.baseline(subject.vector)
        r, declared, named = self._nearness(subject, base, roster)
        nearest = np.full(len(roster.holder_ids), -np.inf)
        near = layer.cosines(subject.probe, known.rows)
        np.maximum.at(nearest, known.holders, standardise(near, base))
        earned = relevance.nearness(nearest, interest.NEAR_FOOTPRINT)[roster.holder_of]
        iota = self._interest(declared, earned, r, roster)
        ceilings = relevance.score(r, iota, subject.salience, self.weights)
        return np.where(named, MICRO, ceilings)

    def _nearness(
        self, subject: Subject, base: Baseline, roster: Roster
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
        """Per receiver, what does not depend on the wave: r, declared ι, named outright."""
        holders = len(roster.holder_ids)
        r = relevance.receiver_relevance(
            geometry.cosine(subject.vector, roster.positions[:holders]),
            base,
            roster.placed[:holders],
        )[roster.holder_of]
        claims = [
            interest.claim(x.tags, x.types, x.has_text, subject.tags, subject.type.value)
            for x in roster.receivers
        ]
        named = np.array([outright for outright, _ in claims], np.bool_)
        declared = interest.declared_interest(
            geometry.cosine(subject.vector, roster.interests),
            self._fixed or declared_baseline(subject.vector, self._calibration),
            named,
            np.array([asks for _, asks in claims], np.bool_),
        )
        return r, declared, named

    def _interest(
        self,
        declared: NDArray[np.float64],
        earned: NDArray[np.float64],
        r: NDArray[np.float64],
        roster: Roster,
    ) -> NDArray[np.float64]:
        """ι of every receiver."""
        says = np.array([bool(x.tags or x.types or x.has_text) for x in roster.receivers], np.bool_)
        known = says | roster.known[roster.holder_of]
        return interest.interest(declared, earned, r, known, 1.0 - self._calibration.own_share)

    def _earned(self, ran: Ran, touched: Touched, roster: Roster) -> NDArray[np.float64]:
        """Earned interest over the cells the wave settled, the diff's own cell left out."""
        counts = ((touched.strengths >= KNOWS) & (touched.places > 0)).nonzero()[0]
        holders = touched.holders.take(counts)
        ages = np.maximum(roster.days.take(holders) - touched.days.take(counts), 0)
        return interest.earned_interest(
            ran.cosines[1:],
            ran.base,
            touched.places.take(counts) - 1,
            holders,
            np.exp(-self._decay * ages),
            roster.receives[: len(roster.holder_ids)],
        )
