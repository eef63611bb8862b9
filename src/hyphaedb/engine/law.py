"""The scoring law of one mesh at one time: protocol/relevance.py fed from the mirror."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hyphaedb.config import Config
from hyphaedb.engine.roster import Roster
from hyphaedb.engine.topology import Layer, Vectors
from hyphaedb.engine.touches import KNOWS
from hyphaedb.engine.waves import Ran
from hyphaedb.errors import Invalid
from hyphaedb.protocol import geometry, interest, relevance
from hyphaedb.protocol.calibration import Baseline, Calibration, baseline, calibrate, standardise

if TYPE_CHECKING:
    from hyphaedb.engine.deciding import Subject


@dataclass(frozen=True, slots=True)
class Reading:
    """Scores of all receivers for one diff, in micro-units, by roster row."""

    scores: NDArray[np.int64]
    relevances: NDArray[np.int64]
    interests: NDArray[np.int64]
    #: Whether a declared tag or type names the cell outright: such an agent hangs on it at once.
    named: NDArray[np.bool_]
    gate: int


def weights_of(config: Config) -> relevance.Weights:
    """The weights a setting names: shipped, paper, or three numbers r/i/s that add up to 1."""
    if config.weights == "shipped":
        return relevance.SHIPPED
    if config.weights == "paper":
        return relevance.PAPER
    try:
        parts = [round(float(p) * 1000) for p in config.weights.split("/")]
        return relevance.Weights(*parts)
    except (ValueError, TypeError):
        raise Invalid(
            f"HYPHAEDB_WEIGHTS is {config.weights!r}.",
            "Use shipped, paper or three numbers such as 0.25/0.65/0.10.",
        ) from None


class Law:
    """The weights and gates of the settings, and the panel cosines are read against."""

    def __init__(self, config: Config, dimension: int, shipped_panel: Vectors | None) -> None:
        self.weights = weights_of(config)
        self.gate = geometry.quantise_micro(config.gate)
        self.relay_min = config.relay_min
        self._decay = config.position_decay
        self._shipped = shipped_panel
        self._calibration: Calibration
        self.calibrate(np.zeros((0, dimension), np.int16))

    def calibrate(self, panel: NDArray[np.int16]) -> None:
        """Read cosines against these cells of the mesh from now on."""
        self._calibration = calibrate(panel, self._shipped)

    def baseline(self, vector: Vectors) -> Baseline:
        """How near a diff is to unrelated cells of this mesh."""
        return baseline(vector, self._calibration)

    def read(self, subject: Subject, ran: Ran, layer: Layer, roster: Roster) -> Reading:
        """σ, r and ι of every receiver."""
        base = self.baseline(subject.vector)
        holders = len(roster.holder_ids)
        r = relevance.receiver_relevance(
            geometry.cosine(subject.vector, roster.positions[:holders]),
            base,
            roster.placed[:holders],
        )[roster.holder_of]
        earned = self._earned(ran, base, layer, roster)[roster.holder_of]
        claims = [
            interest.claim(x.tags, x.types, x.has_text, subject.tags, subject.type.value)
            for x in roster.receivers
        ]
        declared = interest.declared_interest(
            geometry.cosine(subject.vector, roster.interests),
            base,
            named := np.array([outright for outright, _ in claims], np.bool_),
            np.array([asks for _, asks in claims], np.bool_),
        )
        says = np.array([bool(x.tags or x.types or x.has_text) for x in roster.receivers], np.bool_)
        known = says | roster.known[roster.holder_of]
        youth = 1.0 - self._calibration.own_share
        iota = interest.interest(declared, earned, r, known, youth)
        return Reading(
            scores=relevance.score(r, iota, subject.salience, self.weights),
            relevances=geometry.quantise_micros(r),
            interests=geometry.quantise_micros(iota),
            named=named,
            gate=self.gate,
        )

    def could_pass(
        self, subject: Subject, layer: Layer, roster: Roster, lacking: Sequence[int]
    ) -> bool:
        """Whether any of these receivers might be delivered to; False is certain.

        Bounds earned interest by the nearest cell each holder knows, without running the wave.
        """
        if not lacking:
            return False
        if roster.beacons:
            near = geometry.cosine(subject.vector, roster.beacon_vectors)
            if any(c >= b.beacon.radius for c, b in zip(near, roster.beacons, strict=True)):
                return True
        base = self.baseline(subject.vector)
        holders = sorted({roster.receivers[i].holder for i in lacking})
        bound = 0.0
        for holder in holders:
            rows = layer.touches.known_by(holder)
            if len(rows):
                nearest = layer.cosines(subject.probe, rows).max()
                z = standardise(np.array([nearest]), base)
                bound = max(bound, float(relevance.nearness(z, interest.NEAR_FOOTPRINT)[0]))
        for i in lacking:
            receiver = roster.receivers[i]
            named, asks = interest.claim(
                receiver.tags, receiver.types, receiver.has_text, subject.tags, subject.type.value
            )
            if named:
                return True
            if asks:
                near = geometry.cosine(subject.vector, roster.interests[i : i + 1])
                bound = max(bound, float(relevance.relevance(near, base)[0]))
        r = relevance.relevance(
            geometry.cosine(subject.vector, roster.positions[np.array(holders)]), base
        )
        most = float(r.max())
        ceiling = relevance.score(
            np.array([most]), np.array([max(bound, most)]), subject.salience, self.weights
        )
        return bool(ceiling[0] >= self.gate)

    def _earned(
        self, ran: Ran, base: Baseline, layer: Layer, roster: Roster
    ) -> NDArray[np.float64]:
        """Earned interest over the cells the wave settled, the diff's own cell left out."""
        touched = layer.touches.of(ran.settled[1:])
        ages = np.maximum(roster.days[touched.holders] - touched.days, 0)
        strengths = np.where(touched.strengths >= KNOWS, np.exp(-self._decay * ages), 0.0)
        return interest.earned_interest(
            ran.cosines[1:],
            base,
            touched.places,
            touched.holders,
            strengths,
            roster.receives[: len(roster.holder_ids)],
        )
