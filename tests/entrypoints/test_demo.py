"""The demo: its sample is what it says, its figures follow from its waves, and it runs whole."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from hyphaedb.config import Config
from hyphaedb.entrypoints.demo import main, render, sample, story
from hyphaedb.mesh import Home


class TestSample:
    def test_it_carries_source_credit_and_licence(self) -> None:
        loaded = sample.load()

        assert loaded.licence == "Apache-2.0"
        assert "kubernetes/enhancements" in loaded.source
        assert loaded.credit == "The Kubernetes Authors"

    def test_what_is_pushed_is_younger_than_everything_learnt(self) -> None:
        loaded = sample.load()

        youngest = max(one.created for one in loaded.earlier if one.created)
        assert all(one.created and one.created > youngest for one in loaded.later)

    def test_every_sig_that_should_hear_of_a_later_proposal_is_an_agent(self) -> None:
        loaded = sample.load()

        assert {sig for one in loaded.later for sig in one.sigs} <= set(loaded.sigs)

    def test_the_proposals_told_in_full_are_among_the_later_ones(self) -> None:
        assert set(story.TOLD) <= {one.number for one in sample.load().later}


class TestFigures:
    def test_they_are_precision_recall_and_their_harmonic_mean(self) -> None:
        figures = story.Figures(delivered=4, wanted=6, right=3)

        assert figures.precision == 0.75
        assert figures.recall == 0.5
        assert figures.f1 == pytest.approx(0.6)

    def test_silence_scores_zero_and_does_not_divide_by_it(self) -> None:
        figures = story.Figures(delivered=0, wanted=6, right=0)

        assert (figures.precision, figures.recall, figures.f1) == (0.0, 0.0, 0.0)


class TestName:
    def test_a_run_takes_the_first_name_that_is_free(self) -> None:
        assert main.free_name([]) == "demo"
        assert main.free_name(["demo", "demo-2", "mine"]) == "demo-3"


class TestText:
    def test_a_line_that_does_not_fit_goes_on_below_its_start(self) -> None:
        lines = render.wrapped("sig-cluster-lifecycle " * 4, "to ")

        assert lines[0].startswith("to sig-cluster-lifecycle")
        assert lines[1].startswith("   sig-cluster-lifecycle")


@pytest.fixture
def small() -> sample.Sample:
    """Three SIGs, a dozen proposals each, and the three told in full: seconds, not tens."""
    whole = sample.load()
    earlier = [
        one
        for sig in ("sig-cli", "sig-node", "sig-storage")
        for one in [each for each in whole.earlier if each.sigs == (sig,)][:12]
    ]
    later = [one for one in whole.later if one.number in story.TOLD]
    return replace(whole, earlier=tuple(earlier), later=tuple(later))


@pytest.mark.slow
class TestRun:
    async def test_it_tells_who_received_what_and_what_that_is_worth(
        self, config: Config, small: sample.Sample, capsys: pytest.CaptureFixture[str]
    ) -> None:
        code = await main.run(config, as_json=False, fast=True, sample=small)

        said = capsys.readouterr().out
        assert code == 0
        assert max(len(line) for line in said.splitlines()) <= 80
        for words in ("received by", "path new cell", "below the gate", "asks:", "broadcast"):
            assert words in said
        assert "Apache-2.0" in said

    async def test_json_is_one_object_whose_figures_follow_from_its_waves(
        self, config: Config, home: Home, small: sample.Sample, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """And with ``keep`` its mesh is there afterwards, for the commands that are proposed."""
        code = await main.run(config, as_json=True, fast=True, keep=True, sample=small)

        shown: dict[str, Any] = json.loads(capsys.readouterr().out)
        assert code == 0
        pairs = [
            (agent, one["named"])
            for one in shown["pushed"]
            for agent in [each["agent"] for each in one["trace"]["deliveries"]]
        ]
        figures = shown["figures"]["this_run"]
        assert figures["delivered"] == len(pairs)
        assert figures["right"] == sum(agent in named for agent, named in pairs)
        assert shown["figures"]["broadcast"]["recall"] == 1.0
        assert await home.drop(shown["mesh"]) >= len(small.earlier)

    async def test_it_leaves_other_meshes_alone(
        self, config: Config, home: Home, small: sample.Sample, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Not even one that is called demo: the run takes a name that is free."""
        mine = await home.mesh("demo", create=True, worker=False)
        agents, cells = await mine.agents(), (await mine.stats()).cells

        await main.run(config, as_json=True, fast=True, sample=small)

        assert json.loads(capsys.readouterr().out)["mesh"].startswith("demo-")
        assert [info.name for info in await home.meshes() if "demo" in info.name] == ["demo"]
        assert (await mine.agents(), (await mine.stats()).cells) == (agents, cells)
