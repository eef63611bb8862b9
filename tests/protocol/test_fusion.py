"""How recall turns what its lists found into one answer."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyphaedb.errors import Invalid
from hyphaedb.model import RecallMode
from hyphaedb.protocol.addressing import address
from hyphaedb.protocol.calibration import Baseline
from hyphaedb.protocol.fusion import (
    RANK_OF_ONE,
    SESSION_CLOSENESS,
    SHIPPED,
    TERMS_MAX,
    Candidate,
    Fused,
    Neighbour,
    TermCount,
    choose_terms,
    fuse,
)

# Fourteen deviations are 1 here, so the vector part is the cosine itself.
PLAIN = Baseline(0.0, 1.0 / 14.0)
NO_FLOOR = replace(SHIPPED, floor=0.0)

unit = st.floats(0.0, 1.0)
candidate_lists = st.lists(
    st.builds(
        Candidate,
        cell=st.integers(0, 30),
        cosine=st.floats(-1.0, 1.0),
        coverage=st.floats(0.0, 3.0),
        addressed=st.booleans(),
        neighbours=st.lists(st.builds(Neighbour, st.integers(0, 30), unit), max_size=4).map(tuple),
        salience=unit,
        trust=unit,
        recency=unit,
        closed=st.booleans(),
    ),
    max_size=12,
    unique_by=lambda c: c.cell,
)


def order(fused: Fused) -> list[int]:
    return [r.cell for r in fused.ranked]


class TestAddress:
    def test_a_name_is_taken_out_of_the_topic(self) -> None:
        found = address("When did Caroline paint the sunrise?", ["Caroline", "Melanie"])
        assert found.topic == "When did paint the sunrise?"
        assert found.names == ("Caroline",)

    def test_a_possessive_and_punctuation_do_not_hide_a_name(self) -> None:
        found = address("What is Caroline's plan, (Melanie)?", ["Caroline", "Melanie"])
        assert found.topic == "What is plan,"
        assert found.names == ("Caroline", "Melanie")

    def test_a_handle_is_a_name(self) -> None:
        found = address("what did code-agent decide about limits", ["code-agent", "code"])
        assert found == address("what did code-agent decide about limits", ["code-agent"])
        assert found.topic == "what did decide about limits"

    def test_a_name_of_several_words_counts_only_whole(self) -> None:
        assert address("Ask John Smith about cars", ["John Smith"]).topic == "Ask about cars"
        assert address("Ask John about cars", ["John Smith"]).names == ()

    def test_a_plain_lower_case_word_is_a_topic(self) -> None:
        question = "storage classes for snapshots"
        assert address(question, ["storage"]) == address(question, [])

    def test_unless_it_is_addressed(self) -> None:
        found = address("what does @storage say of snapshots", ["storage"])
        assert found.names == ("storage",)
        assert found.topic == "what does say of snapshots"

    def test_spelling_counts_so_a_verb_is_no_agent(self) -> None:
        assert address("when will it ship", ["Will"]).names == ()

    def test_a_question_of_names_only_stays_whole(self) -> None:
        found = address("Caroline?", ["Caroline"])
        assert found.topic == "Caroline?"
        assert found.names == ("Caroline",)

    def test_without_names_the_question_is_untouched(self) -> None:
        question = "  two  spaces stay "
        assert address(question, ["Caroline"]).topic == question


class TestTerms:
    def test_a_cell_with_every_lexeme_once_covers_the_question_whole(self) -> None:
        terms = choose_terms([TermCount("retri", 3), TermCount("limit", 40)], 1_000)
        assert math.isclose(RANK_OF_ONE * sum(terms.weights), 1.0)

    def test_a_rare_lexeme_is_worth_more(self) -> None:
        terms = choose_terms([TermCount("limit", 40), TermCount("retri", 3)], 1_000)
        assert terms.lexemes == ("retri", "limit")
        assert terms.weights[0] > terms.weights[1]

    def test_unknown_lexemes_lower_what_the_known_ones_cover(self) -> None:
        known = choose_terms([TermCount("limit", 40)], 1_000)
        mixed = choose_terms([TermCount("limit", 40), TermCount("asdf", 0)], 1_000)
        covered = dict(zip(mixed.lexemes, mixed.weights, strict=True))["limit"]
        assert covered < known.weights[0] / 2

    def test_a_lexeme_too_new_to_be_counted_is_sought(self) -> None:
        """The cell that brought it may have been stored a moment ago."""
        terms = choose_terms([TermCount("limit", 40), TermCount("proj-123", 0)], 1_000)
        assert terms.any_of == ("proj-123", "limit")
        assert math.isclose(RANK_OF_ONE * sum(terms.weights), 1.0)

    def test_without_lexemes_there_is_nothing_to_search(self) -> None:
        assert choose_terms([], 1_000).lexemes == ()

    def test_rows_are_read_by_the_rarest_and_scored_by_all(self) -> None:
        counts = [TermCount("cluster", 50_000), TermCount("retri", 30), TermCount("etcd", 400)]
        terms = choose_terms(counts, 100_000, rows_max=500)
        assert terms.any_of == ("retri", "etcd")
        assert terms.all_of == ()
        assert terms.lexemes == ("retri", "etcd", "cluster")

    def test_common_words_alone_are_asked_for_together(self) -> None:
        counts = [TermCount("cluster", 50_000), TermCount("upgrad", 9_000)]
        terms = choose_terms(counts, 100_000, rows_max=500)
        assert terms.any_of == ()
        assert terms.all_of == ("upgrad", "cluster")

    def test_a_long_question_is_searched_by_its_rarest_lexemes(self) -> None:
        terms = choose_terms([TermCount(f"t{i}", i + 1) for i in range(100)], 1_000)
        assert terms.lexemes == tuple(f"t{i}" for i in range(TERMS_MAX))

    @given(st.lists(st.integers(0, 5_000), max_size=40), st.integers(0, 5_000))
    def test_reading_by_single_lexemes_stays_within_the_rows(
        self, documents: list[int], total: int
    ) -> None:
        """Also when the counts run ahead of the total, as they do between two batches."""
        counts = [TermCount(f"t{i}", n) for i, n in enumerate(documents)]
        terms = choose_terms(counts, total, rows_max=800)
        read = sum(n for t, n in counts if t in terms.any_of)
        assert read <= 800
        assert all(w > 0.0 for w in terms.weights)
        assert bool(terms.lexemes) == bool(terms.any_of or terms.all_of)


class TestScore:
    @given(candidate_lists)
    def test_the_parts_explain_the_score(self, candidates: list[Candidate]) -> None:
        for r in fuse(candidates, PLAIN, 20, weights=NO_FLOOR).ranked:
            parts = r.vector + r.lexical + r.addressed + r.lent
            assert math.isclose(r.score, parts * r.merit, abs_tol=1e-12)

    @given(candidate_lists, st.randoms(use_true_random=False))
    def test_the_order_of_the_lists_does_not_matter(
        self, candidates: list[Candidate], shuffler: object
    ) -> None:
        shuffled = list(candidates)
        shuffler.shuffle(shuffled)  # type: ignore[attr-defined]
        assert order(fuse(candidates, PLAIN, 20)) == order(fuse(shuffled, PLAIN, 20))

    @given(candidate_lists)
    def test_merit_is_bounded(self, candidates: list[Candidate]) -> None:
        least = (1 - SHIPPED.salience) * (1 - SHIPPED.trust) * (1 - SHIPPED.closed)
        for r in fuse(candidates, PLAIN, 20, weights=NO_FLOOR).ranked:
            assert least - 1e-12 <= r.merit <= 1.0

    def test_scores_are_added_so_a_clear_first_stays_first(self) -> None:
        """Rank fusion puts the cell that is second twice before the one that is clearly first."""
        clear = Candidate(1, cosine=0.9)
        twice_second = Candidate(2, cosine=0.3, coverage=0.2)
        best_words = Candidate(3, cosine=0.0, coverage=0.25)
        assert order(fuse([clear, twice_second, best_words], PLAIN, 3))[0] == 1
        assert 1 / (60 + 2) + 1 / (60 + 2) > 1 / (60 + 1)

    def test_a_cosine_is_read_by_the_yardstick(self) -> None:
        narrow = Baseline(0.75, 0.01)
        ranked = fuse([Candidate(1, 0.82), Candidate(2, 0.70)], narrow, 2, weights=NO_FLOOR).ranked
        assert [r.vector for r in ranked] == [pytest.approx(0.5), 0.0]

    def test_a_telling_neighbour_lifts_a_cell_that_lacks_the_words(self) -> None:
        question = Candidate(1, cosine=0.6)
        answer = Candidate(2, cosine=0.2, neighbours=(Neighbour(1, SESSION_CLOSENESS[0]),))
        stranger = Candidate(3, cosine=0.3)
        fused = fuse([question, answer, stranger], PLAIN, 3)
        assert order(fused) == [1, 2, 3]
        assert fused.ranked[1].lent == pytest.approx(SHIPPED.lent * 0.6)

    def test_only_the_best_neighbour_lends(self) -> None:
        beside = (Neighbour(1, 0.7), Neighbour(2, 1.0), Neighbour(9, 1.0))
        cells = [Candidate(1, 0.5), Candidate(2, 0.4), Candidate(3, 0.3, neighbours=beside)]
        third = next(r for r in fuse(cells, PLAIN, 3).ranked if r.cell == 3)
        assert third.lent == pytest.approx(SHIPPED.lent * 0.4)

    def test_the_agent_asked_about_is_preferred(self) -> None:
        fused = fuse([Candidate(1, 0.5), Candidate(2, 0.4, addressed=True)], PLAIN, 2)
        assert order(fused) == [2, 1]

    def test_what_is_no_longer_valid_falls_behind_its_successor(self) -> None:
        fused = fuse([Candidate(1, 0.6, closed=True), Candidate(2, 0.5)], PLAIN, 2)
        assert order(fused) == [2, 1]

    def test_recency_is_neutral_until_it_is_given_a_weight(self) -> None:
        cells = [Candidate(1, 0.5, recency=0.0), Candidate(2, 0.4, recency=1.0)]
        assert order(fuse(cells, PLAIN, 2)) == [1, 2]
        assert order(fuse(cells, PLAIN, 2, weights=replace(SHIPPED, recency=0.5))) == [2, 1]

    def test_equals_come_by_cell(self) -> None:
        assert order(fuse([Candidate(7, 0.5), Candidate(3, 0.5)], PLAIN, 2)) == [3, 7]

    def test_the_answer_is_no_longer_than_asked(self) -> None:
        assert len(fuse([Candidate(i, 0.5) for i in range(9)], PLAIN, 4).ranked) == 4


class TestFloor:
    def test_weak_evidence_gives_an_honest_nothing(self) -> None:
        fused = fuse([Candidate(1, 0.2, coverage=0.1), Candidate(2, 0.1)], PLAIN, 5)
        assert fused.ranked == ()
        assert fused.below_floor == 2
        assert 0.0 < fused.evidence < SHIPPED.floor

    def test_both_lists_count_together(self) -> None:
        """The nearest cell and the best worded one need not be the same."""
        cells = [Candidate(1, 0.25), Candidate(2, 0.0, coverage=0.6)]
        assert fuse(cells, PLAIN, 5).ranked
        assert not fuse(cells[:1], PLAIN, 5).ranked

    def test_a_list_that_was_not_asked_is_not_missed(self) -> None:
        near, worded = Candidate(1, 0.3), Candidate(1, 0.0, coverage=0.3)
        assert not fuse([near], PLAIN, 5).ranked
        assert fuse([near], PLAIN, 5, mode=RecallMode.VECTOR).ranked
        assert not fuse([worded], PLAIN, 5).ranked
        assert fuse([worded], PLAIN, 5, mode=RecallMode.TEXT).ranked

    def test_a_list_that_was_not_asked_adds_nothing(self) -> None:
        cells = [Candidate(1, 0.9, coverage=0.9)]
        assert fuse(cells, PLAIN, 5, mode=RecallMode.VECTOR).ranked[0].lexical == 0.0
        assert fuse(cells, PLAIN, 5, mode=RecallMode.TEXT).ranked[0].vector == 0.0

    def test_naming_an_agent_is_no_evidence(self) -> None:
        assert not fuse([Candidate(1, 0.2, addressed=True)], PLAIN, 5).ranked

    def test_a_clear_hit_is_not_followed_by_what_scores_less_than_half_of_it(self) -> None:
        cells = [Candidate(1, 0.8), Candidate(2, 0.41), Candidate(3, 0.39)]
        fused = fuse(cells, PLAIN, 5)
        assert (order(fused), fused.below_floor) == ([1, 2], 1)

    def test_without_a_floor_weak_hits_stay(self) -> None:
        cells = [Candidate(1, 0.8), Candidate(2, 0.05)]
        assert order(fuse(cells, PLAIN, 5, weights=NO_FLOOR)) == [1, 2]

    def test_no_candidates_is_no_answer(self) -> None:
        assert fuse([], PLAIN, 5) == Fused((), 0.0, 0)

    @given(candidate_lists)
    def test_evidence_is_a_share(self, candidates: list[Candidate]) -> None:
        for mode in RecallMode:
            assert 0.0 <= fuse(candidates, PLAIN, 5, mode=mode).evidence <= 1.0 + 1e-9


def test_a_cell_that_comes_twice_is_refused() -> None:
    with pytest.raises(Invalid):
        fuse([Candidate(1, 0.5), Candidate(1, 0.4)], PLAIN, 5)


def test_a_score_that_is_no_number_is_refused() -> None:
    with pytest.raises(Invalid):
        fuse([Candidate(1, math.nan)], PLAIN, 5)
