"""Extraction by rules: what becomes a cell, of which type, and what is left out."""

from __future__ import annotations

import pytest

from hyphaedb.errors import TooLarge
from hyphaedb.model import CellType
from hyphaedb.providers.extracting import TEXT_CHARS_MAX, extract_cells
from hyphaedb.providers.reasoner import ExtractedCell


def only(text: str) -> ExtractedCell:
    (cell,) = extract_cells(text, 10)
    return cell


def bodies(text: str, cells_max: int = 10, recalled: tuple[str, ...] = ()) -> list[str]:
    return [cell.body for cell in extract_cells(text, cells_max, recalled)]


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("We decided to store sessions in Redis.", CellType.DECISION),
        ("Requests to the billing API must not carry card numbers.", CellType.CONSTRAINT),
        ("Two writers could corrupt the manifest.", CellType.RISK),
        ("The outage was caused by an expired certificate.", CellType.LESSON),
        ("Whenever the cache restarts, latency doubles for 5 minutes.", CellType.PATTERN),
        ("The customer prefers reports as CSV over PDF.", CellType.PREFERENCE),
        ("The retry logic of the importer is not yet implemented.", CellType.TASK),
        ("The team is currently moved to the Kubernetes cluster in Frankfurt.", CellType.CONTEXT),
        ("The gateway listens on port 8443.", CellType.FACT),
    ],
)
def test_a_phrase_gives_each_of_the_nine_types_away(sentence: str, kind: CellType) -> None:
    assert only(sentence).type is kind


def test_a_label_decides_the_type_and_is_no_part_of_the_body() -> None:
    cell = only("**Decision:** Redis for sessions, not Memcached")
    assert (cell.type, cell.body) == (
        CellType.DECISION,
        "Redis for sessions, not Memcached",
    )


def test_the_quote_is_the_very_passage_and_the_body_is_free_of_layout() -> None:
    text = "# Notes\n\n- We **decided** to keep\n  `orders` in [Postgres](https://db.example).\n"
    cell = only(text)
    assert cell.body == "We decided to keep `orders` in Postgres."
    assert cell.quote in text
    assert "**decided**" in cell.quote


def test_a_ticket_key_becomes_a_tag_and_the_name_of_a_standard_does_not() -> None:
    text = "PAY-1432 and PAY-7 must use SHA-256 and UTF-8, see PAY-1432 and CVE-2024-3094."
    assert only(text).tags == ("PAY-1432", "PAY-7")


@pytest.mark.parametrize(
    "sentence",
    [
        "Hello everyone, great work on the release!",
        "Thank you for the quick answer about the port.",
        "I will now open the file main.py and check it.",
        "Let me check the configuration of the gateway first.",
        "Let's proceed with the second step of the plan.",
        "Which port must the gateway use?",
        "Feel free to ask if anything must be changed.",
        "Here is the list of all the constraints:",
        "exitcode: 0 (execution succeeded)",
        'File "/srv/app/main.py", line 12, in run must not fail',
        "2026-01-02 10:00:00 ERROR the worker must not stop",
        "9f86d081884c7d65/9a2feaa0c55ad0 15a3bf4f1b2b0 must 822cd15d6c15b0f00a08",
        "Open the settings page and click on Save 2 times.",
        "It works.",
    ],
)
def test_politeness_self_talk_questions_steps_and_tool_output_are_dropped(sentence: str) -> None:
    assert bodies(sentence) == []


def test_courtesy_before_a_statement_does_not_lose_the_statement() -> None:
    assert bodies("Sure, the gateway listens on port 8443.") == [
        "The gateway listens on port 8443."
    ]


def test_code_tables_and_quoted_lines_are_no_prose() -> None:
    text = """
The gateway must use TLS 1.3.

```python
# The port must never be 80.
```

| rule | The table must not be read as 1 sentence. |
> An older mail said the port must be 81.

    Indented code must not be read either, line 7.
"""
    assert bodies(text) == ["The gateway must use TLS 1.3."]


def test_an_abbreviation_does_not_end_a_sentence() -> None:
    text = "Secrets, e.g. API keys, must never be logged. The vault is owned by Dr. Chen's team."
    assert bodies(text)[0] == "Secrets, e.g. API keys, must never be logged."


def test_what_only_repeats_a_recalled_text_is_not_extracted_again() -> None:
    known = "Retries of the importer must stop after 5 attempts."
    text = f"As we know: {known}\n\n**Retries** of the importer must stop after 5 attempts!"
    assert bodies(text, recalled=(known,)) == []
    news = "Retries of the importer must stop after 9 attempts."
    assert bodies(news, recalled=(known,)) == [news]


def test_the_same_sentence_twice_makes_one_cell() -> None:
    said = "Secrets must never be logged."
    assert bodies(f"{said} {said}\n\n- {said}") == [said]


def test_the_strongest_are_kept_in_the_order_of_the_text() -> None:
    text = (
        "The service has 3 replicas. We decided to drop Python 3.10. "
        "It must not be used from now on, by decision of 2 teams: users must upgrade to 3.11."
    )
    kept = extract_cells(text, 2)
    assert [text.index(cell.quote) for cell in kept] == sorted(
        text.index(cell.quote) for cell in kept
    )
    assert "The service has 3 replicas." not in [cell.body for cell in kept]
    assert extract_cells(text, 0) == ()


def test_more_and_firmer_cues_make_a_statement_weigh_more_up_to_a_bound() -> None:
    hint = only("The importer requires Java 17.")
    firm = only("The importer must never use more than 2 GB and must not exceed 4 threads.")
    endless = only("The importer " + "must never " * 40 + "run as root on port 80.")
    assert hint.salience < firm.salience <= endless.salience <= 0.95
    assert only("Maybe the importer must use Java 17.").confidence < hint.confidence + 0.1


@pytest.mark.parametrize("text", ["", "\n\n", "```\nnever closed", "." * 5_000, "a " * 50_000])
def test_text_without_sentences_has_no_knowledge(text: str) -> None:
    assert bodies(text) == []


def test_a_text_beyond_the_bound_is_refused_with_the_way_out() -> None:
    with pytest.raises(TooLarge, match="in parts"):
        extract_cells("x" * (TEXT_CHARS_MAX + 1), 10)
