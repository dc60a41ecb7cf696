"""Chunks: slices of the text, within the limit, cut where a person would cut."""

import hashlib
from collections.abc import Callable
from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.makers import document, documents, heading, sentence, text, words
from ombud.documents import chunk, parse
from ombud.errors import UnknownName
from ombud.settings import IndexSettings
from ombud.types import Block, Chunk, Document


def cut(source: Document, most: int = 64) -> list[Chunk]:
    return chunk(source, IndexSettings(chunk_tokens=most), words)


def test_headings_are_the_trail_and_not_the_text() -> None:
    source = document(
        heading("Leave", 1),
        text("Take it."),
        heading("Carry over", 2),
        text(sentence("days", 30)),
        heading("Limits", 3),
        text(sentence("limit", 30)),
        heading("Sickness", 2),
        text(sentence("ill", 30)),
    )
    made = cut(source)
    assert [c.trail for c in made] == [
        ("Leave",),
        ("Leave", "Carry over"),
        ("Leave", "Carry over", "Limits"),
        ("Leave", "Sickness"),
    ]
    assert made[0].text == "Take it."


def test_a_title_that_is_no_heading_opens_the_trail() -> None:
    made = cut(document(heading("Carry over", 2), text(sentence("days", 30)), title="Leave policy"))
    assert made[0].trail == ("Leave policy", "Carry over")


def test_small_neighbours_share_a_chunk_and_a_long_section_is_cut_evenly() -> None:
    assert [c.text for c in cut(document(text("One."), text("Two."), text("Three.")))] == [
        "One.\n\nTwo.\n\nThree."
    ]
    sizes = [words(c.text) for c in cut(document(*(text(sentence("word", 10)) for _ in range(8))))]
    assert sizes == [40, 40]


def test_a_long_paragraph_is_cut_at_sentence_ends() -> None:
    made = cut(
        document(text(" ".join(sentence(word, 20) for word in ("aa", "bb", "cc", "dd", "ee"))))
    )
    assert all(c.text.endswith(".") for c in made)
    assert sum(c.text.count(".") for c in made) == 5


def test_a_monstrous_sentence_is_cut_at_words_and_a_monstrous_word_anywhere() -> None:
    made = cut(document(text(" ".join(["long"] * 500))))
    assert all(set(c.text.split()) == {"long"} for c in made)
    assert sum(words(c.text) for c in made) == 500
    letters = chunk(document(text("x" * 1000)), IndexSettings(chunk_tokens=64), len)
    assert "".join(c.text for c in letters) == "x" * 1000
    assert all(len(" > ".join(c.trail) + "\n" + c.text) <= 64 for c in letters)


def test_a_list_is_kept_with_its_lead_in() -> None:
    listed = Block(kind="list", text="\n".join(f"- item {n} of it" for n in range(8)))
    made = cut(document(text(sentence("before", 30)), text("You need all of these:"), listed), 48)
    assert made[0].text == sentence("before", 30)
    assert made[1].text == "You need all of these:\n\n" + listed.text


def test_a_list_that_is_too_long_is_cut_between_its_items() -> None:
    items = [f"- item {n}\n  - part of item {n}" for n in range(30)]
    made = cut(document(Block(kind="list", text="\n".join(items))))
    assert len(made) > 1
    assert all(c.text.startswith("- item") for c in made)
    assert "\n".join(c.text for c in made) == "\n".join(items)


def test_a_table_that_is_too_long_repeats_its_header_beside_the_text() -> None:
    rows = [f"| Grade {n} | {n} days |" for n in range(20)]
    table = Block(kind="table", text="\n".join(["| Grade | Days |", "| --- | --- |", *rows]))
    made = cut(document(table))
    assert made[0].header == ""
    assert made[0].text.startswith("| Grade | Days |\n| --- | --- |\n| Grade 0 |")
    assert {c.header for c in made[1:]} == {"| Grade | Days |\n| --- | --- |"}
    assert "\n".join(c.text for c in made) == table.text


def test_a_table_that_fits_is_whole() -> None:
    table = Block(kind="table", text="| Grade | Days |\n| --- | --- |\n| A | 25 |")
    made = cut(document(text(sentence("before", 55)), table))
    assert [c.text for c in made] == [sentence("before", 55), table.text]


def test_very_short_sections_side_by_side_become_one_with_their_headings() -> None:
    made = cut(
        document(
            heading("Terms", 2),
            heading("Grade", 3),
            text("Your level."),
            heading("Band", 3),
            text("Your pay."),
        )
    )
    assert [c.text for c in made] == ["Your level.\n\nBand\n\nYour pay."]
    assert made[0].trail == ("Leave", "Terms", "Grade / Band")


@pytest.mark.parametrize("title", ["Leave", "Other"])
def test_only_headings_still_give_chunks(title: str) -> None:
    made = cut(document(heading("Leave", 1), title=title))
    assert [c.text for c in made] == ["Leave"]


def test_a_trail_that_would_fill_the_chunk_is_shortened() -> None:
    made = cut(
        document(
            heading("One " * 20, 1),
            heading("Two " * 20, 2),
            heading("Three", 3),
            text(sentence("word", 40)),
        ),
        32,
    )
    assert all(words(" > ".join(c.trail) + "\n" + c.text) <= 32 for c in made)
    assert {c.trail[-1] for c in made} == {"Three"}


def test_pages_span_what_is_inside() -> None:
    made = cut(document(text("One.", 3), text("Two.", 4)))
    assert (made[0].page_from, made[0].page_to) == (3, 4)


def test_what_the_document_knows_is_copied() -> None:
    facts = {
        "countries": ("GB",),
        "audience": {"grades": ("A",)},
        "effective_from": date(2024, 1, 1),
    }
    more = {"status": "draft", "mandatory": True, "topic": "leave", "language": "fr"}
    known = document(text("Take it.")).model_copy(update=facts | more)
    made = cut(known)[0]
    for name in (*facts, *more, "effective_to", "digest", "uri", "title"):
        assert getattr(made, name) == getattr(known, name)


def test_ids_follow_the_contract() -> None:
    made = cut(document(text("Take it.")))[0]
    facts = "d|structure:64|0|8"
    assert made.id == "0123456789abcdef-" + hashlib.sha256(facts.encode()).hexdigest()[:12]


def test_an_unknown_chunker_lists_the_known() -> None:
    with pytest.raises(UnknownName) as wrong:
        chunk(document(text("x")), IndexSettings(chunker="structur"), words)
    assert "structure" in wrong.value.hint


def test_text_without_blocks_is_cut_by_its_paragraphs() -> None:
    bare = Document(id="x", source="s", uri="u", title="T", text="One.\n\nTwo.")
    assert [c.text for c in cut(bare)] == ["One.\n\nTwo."]


@settings(max_examples=200, deadline=None)
@given(documents(), st.sampled_from([32, 64, 256]), st.sampled_from([words, len]))
def test_chunks_are_ordered_slices_within_the_limit_that_lose_nothing(
    source: Document, most: int, count: Callable[[str], int]
) -> None:
    made = chunk(source, IndexSettings(chunk_tokens=most), count)
    assert made == chunk(source, IndexSettings(chunk_tokens=most), count)
    assert len({c.id for c in made}) == len(made)
    assert all(a.end <= b.start for a, b in pairwise(made))
    for c in made:
        assert c.text == source.text[c.start : c.end] == c.text.strip()
        assert count(" > ".join(c.trail) + "\n" + c.text) <= most
    at = 0
    inside = {position for c in made for position in range(c.start, c.end)}
    for block in source.blocks:
        if block.kind != "heading":
            held = (
                source.text[p].isspace() or p in inside for p in range(at, at + len(block.text))
            )
            assert all(held)
        at += len(block.text) + 2


def test_a_parsed_document_is_cut_along_its_headings() -> None:
    source = (
        "# Leave\n\n## Days\n\nYou have 25 days of leave in each full year, and more after you "
        "have stayed for ten.\n\n"
        "## Notice\n\nAsk two weeks before a longer absence, so that there is time for others "
        "to plan.\n"
    )
    made = cut(
        parse(source.encode(), Document(id="x", source="s", uri="leave.md", title="")), most=32
    )
    assert [c.trail for c in made] == [("Leave", "Days"), ("Leave", "Notice")]


@pytest.mark.parametrize("chunker", ["structure", "sentence", "fixed"])
def test_a_line_without_blanks_is_cut_though_its_tokenizer_takes_it_for_one_token(
    chunker: str,
) -> None:
    line = "abcdefghij" * 50_000
    made = chunk(document(text(line)), IndexSettings(chunker=chunker, chunk_tokens=256), words)
    assert max(len(one.text) for one in made) < 10_000
    assert {place for one in made for place in (one.start, one.end)} >= {0, len(line)}
