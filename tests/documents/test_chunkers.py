"""The chunkers beside `structure`: what all of them keep to, and what each is for."""

import re
from collections.abc import Callable, Sequence
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.makers import SPACED, document, documents, heading, sentence, text, words
from ombud.documents import chunk, recipe_of
from ombud.documents.chunking import pattern
from ombud.documents.chunking.chunks import CHUNKERS, READS
from ombud.errors import BadSetting, SourceError
from ombud.settings import Folder, IndexSettings, Settings, index_for
from ombud.types import Block, Chunk, Document

CLAUSE = r"(?m)^§ ?[0-9]+"
TABLE = Block(
    kind="table",
    text="\n".join(
        ["| Grade | Days |", "| --- | --- |", *(f"| Grade {n} | {n} days |" for n in range(30))]
    ),
)
CJK = (
    "有給休暇は毎年二十日です。病気の場合は医師の診断書が必要です。申請は二週間前までに行います。"
    * 12
)


def embed(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """Texts of the same words have the same vector, texts without a common one are at right angles,
    nearly."""
    rows = np.zeros((len(texts), 512), np.float32)
    for row, one in zip(rows, texts, strict=True):
        for word in re.findall(r"\w+", one.lower()):
            row[int(sha256(word.encode()).hexdigest(), 16) % 512] += 1
    unit: npt.NDArray[np.float32] = rows / np.maximum(
        np.linalg.norm(rows, axis=1, keepdims=True), 1e-9
    )
    return unit


def cut(
    source: Document, chunker: str, count: Callable[[str], int] = words, **options: object
) -> list[Chunk]:
    chosen = IndexSettings.model_validate({"chunker": chunker, "pattern": CLAUSE} | options)
    return chunk(source, chosen, count, embed)


def size_of(made: Chunk, count: Callable[[str], int] = words) -> int:
    header = made.header + "\n" if made.header else ""
    return count(" > ".join(made.trail) + "\n" + header + made.text)


def shared(made: Sequence[Chunk], source: Document) -> list[str]:
    """What neighbours both hold."""
    return [source.text[b.start : a.end] if b.start < a.end else "" for a, b in pairwise(made)]


def paragraph(*some: str, length: int = 10) -> Block:
    return text(" ".join(sentence(word, length) for word in some))


# What all keep to ---------------------------------------------------------------------------------

others = pytest.mark.parametrize("chunker", sorted(CHUNKERS.keys() - {"structure"}))
every = pytest.mark.parametrize("chunker", sorted(CHUNKERS))
LIMITS = st.tuples(st.sampled_from([32, 64, 256]), st.sampled_from([None, 0, 7, 31]))


@others
@settings(max_examples=120, deadline=None)
@given(
    documents(),
    LIMITS,
    st.sampled_from([words, len]),
    st.sampled_from([CLAUSE, "a", r"\|", r"\s+b"]),
)
def test_chunks_are_ordered_slices_within_the_limit_that_lose_nothing(
    chunker: str,
    source: Document,
    limits: tuple[int, int | None],
    count: Callable[[str], int],
    begins: str,
) -> None:
    most, overlap = limits
    made = cut(source, chunker, count, chunk_tokens=most, overlap_tokens=overlap, pattern=begins)
    assert made == cut(
        source, chunker, count, chunk_tokens=most, overlap_tokens=overlap, pattern=begins
    )
    assert len({c.id for c in made}) == len(made)
    assert all(a.start < b.start and a.end < b.end for a, b in pairwise(made))
    for c in made:
        assert c.text
        assert c.text == source.text[c.start : c.end] == c.text.strip()
        assert size_of(c, count) <= most
    most_shared = IndexSettings(chunker=chunker, chunk_tokens=most, overlap_tokens=overlap).overlap
    assert all(
        count(both) <= (most_shared if "overlap" in READS[chunker] else 0)
        for both in shared(made, source)
    )
    inside = {position for c in made for position in range(c.start, c.end)}
    assert all(
        letter.isspace() or position in inside for position, letter in enumerate(source.text)
    )


@every
@pytest.mark.parametrize("blocks", [(), (text(""),), (text(" \n\n\t "),)])
def test_what_holds_nothing_gives_no_chunks(chunker: str, blocks: tuple[Block, ...]) -> None:
    assert cut(document(*blocks), chunker) == []


@every
@pytest.mark.parametrize(
    ("block", "count"),
    [
        (text("x" * 5000), len),
        (text("word " * 3000), words),
        (text(CJK), len),
        (TABLE, words),
        (Block(kind="table", text="| " + "cell " * 400 + "|"), words),
        (Block(kind="code", text="\n".join(f"    indented(line, {n})" for n in range(200))), words),
        (Block(kind="list", text="\n".join(f"- item {n}" for n in range(200))), words),
        (heading("Only a heading " * 40, 1), words),
    ],
)
def test_odd_blocks_are_cut_within_the_limit(
    chunker: str, block: Block, count: Callable[[str], int]
) -> None:
    source = document(block)
    made = cut(source, chunker, count, chunk_tokens=64)
    assert len(made) > 1
    assert all(0 < size_of(c, count) <= 64 for c in made)
    letters = "".join("".join(c.text.split()) for c in made)
    assert letters.startswith("".join(source.text.split())[:20])


@others
def test_the_trail_is_what_stands_above_the_first_character(chunker: str) -> None:
    source = document(
        heading("Leave", 1), paragraph("aa"), heading("Carry over", 2), paragraph(*["days"] * 20)
    )
    made = cut(source, chunker, chunk_tokens=32, overlap_tokens=0, percentile=1)
    for c in made:
        above = [b.text for b in source.blocks if b.level and source.text.index(b.text) < c.start]
        assert c.trail == (("Leave", "Carry over") if "Carry over" in above else ("Leave",))
    assert len({c.trail for c in made}) == 2


@others
def test_pages_are_those_of_what_is_inside(chunker: str) -> None:
    source = document(*(text(sentence("word", 30), page) for page in (1, 2, 3, 4)))
    made = cut(source, chunker, chunk_tokens=64, overlap_tokens=0)
    assert made[0].page_from == 1
    assert made[-1].page_to == 4
    for c in made:
        own = [
            b.page
            for n, b in enumerate(source.blocks)
            if c.start < n * 151 + len(b.text) and n * 151 < c.end
        ]
        assert (c.page_from, c.page_to) == (own[0], own[-1])


@others
def test_text_without_blocks_is_cut(chunker: str) -> None:
    bare = Document(id="x", source="s", uri="u", title="T", text="One.\n\nTwo.")
    assert [c.text for c in cut(bare, chunker)] == ["One.\n\nTwo."]


# Settings -----------------------------------------------------------------------------------------


def test_what_is_not_set_is_the_chunkers_own() -> None:
    own = {
        name: (IndexSettings(chunker=name).size, IndexSettings(chunker=name).overlap)
        for name in CHUNKERS
    }
    assert own == {
        "structure": (256, 0),
        "sentence": (512, 200),
        "semantic": (256, 0),
        "pattern": (256, 0),
        "fixed": (2048, 512),
    }
    assert IndexSettings(chunker="sentence", chunk_tokens=256).overlap == 100
    assert IndexSettings(chunker="sentence", chunk_tokens=256, overlap_tokens=0).overlap == 0
    assert IndexSettings(chunker="a plugin's").size == 256


def test_a_recipe_holds_what_the_chunker_reads_and_nothing_else() -> None:
    plain = IndexSettings(chunker="pattern", pattern=CLAUSE)
    assert recipe_of(plain) == ("pattern", 256, CLAUSE)
    assert recipe_of(
        plain.model_copy(update={"percentile": 50.0, "overlap_tokens": 9})
    ) == recipe_of(plain)
    assert (
        recipe_of(IndexSettings())
        == recipe_of(IndexSettings(chunk_tokens=256, pattern="x"))
        == ("structure", 256)
    )
    assert recipe_of(IndexSettings(chunker="plugin")) == ("plugin", 256, 0, "", 90.0, 3, 3)
    assert READS.keys() == CHUNKERS.keys()


def test_ids_change_with_what_the_chunker_reads() -> None:
    source = document(paragraph("aa"))
    (one,), (other,) = (cut(source, "sentence", overlap_tokens=shared) for shared in (0, 10))
    assert (one.text, one.id != other.id) == (other.text, True)


def test_a_source_has_its_own_chunker_or_that_of_the_index() -> None:
    places = (Folder(name="a", path=Path("a"), chunker="fixed"), Folder(name="b", path=Path("b")))
    chosen = Settings(source=places, index=IndexSettings(chunker="sentence"))
    assert [index_for(chosen, name).chunker for name in ("a", "b", "recorded")] == [
        "fixed",
        "sentence",
        "sentence",
    ]
    assert index_for(chosen, "a").size == 2048


@pytest.mark.parametrize("chunker", ["sentence", "fixed"])
def test_an_overlap_that_leaves_no_room_is_refused(chunker: str) -> None:
    with pytest.raises(BadSetting, match="overlap_tokens = 64 is not less than"):
        cut(document(text("x")), chunker, chunk_tokens=64, overlap_tokens=64)
    assert cut(document(text("x")), "pattern", chunk_tokens=64, overlap_tokens=64)


# sentence -----------------------------------------------------------------------------------------


def test_sentences_stay_whole_and_neighbours_share_whole_ones() -> None:
    source = document(paragraph(*(f"{letter}{letter}" for letter in "abcdefghij")))
    made = cut(source, "sentence", chunk_tokens=51, overlap_tokens=25)
    found = [re.findall(r"\b([A-J])", c.text) for c in made]
    assert found == [list("ABCDE"), list("DEFGH"), list("GHIJ")]
    assert [words(both) for both in shared(made, source)] == [20, 20]


def test_less_is_shared_where_the_next_sentence_needs_the_room() -> None:
    source = document(
        text(" ".join([sentence("aa", 10), sentence("bb", 10), sentence("long", 45)]))
    )
    made = cut(source, "sentence", chunk_tokens=51, overlap_tokens=25)
    assert [re.findall(r"\b[A-Z]\w+", c.text) for c in made] == [["Aa", "Bb"], ["Long"]]


def test_a_heading_goes_with_what_it_stands_above() -> None:
    source = document(paragraph("aa", "bb"), heading("Carry over", 2), paragraph("cc", "dd"))
    made = cut(source, "sentence", chunk_tokens=32, overlap_tokens=0)
    assert [c.text.split("\n")[0] for c in made] == [source.blocks[0].text, "Carry over"]


def test_a_table_that_is_gone_on_with_repeats_its_header() -> None:
    made = cut(document(TABLE), "sentence", chunk_tokens=64, overlap_tokens=0)
    assert made[0].header == ""
    assert {c.header for c in made[1:]} == {"| Grade | Days |\n| --- | --- |"}
    assert all(c.text.startswith("| Grade") and c.text.endswith("|") for c in made)
    assert "\n".join(c.text for c in made) == TABLE.text


# semantic -----------------------------------------------------------------------------------------


def topics(*some: str, times: int = 5) -> Block:
    return paragraph(*(word for word in some for _ in range(times)))


def test_it_is_cut_where_the_text_turns_to_something_else() -> None:
    made = cut(document(topics("leave", "travel", "salary")), "semantic")
    assert [set(re.findall(r"\w+", c.text.lower())) for c in made] == [
        {"leave"},
        {"travel"},
        {"salary"},
    ]


def test_the_percentile_decides_how_many_turns_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(IndexSettings, "min_sentences", 1)
    source = document(paragraph(*["leave"] * 6, *["travel"] * 6, *["travel", "costs"] * 3))
    cuts = [len(cut(source, "semantic", percentile=share)) for share in (99, 90, 50)]
    assert cuts == sorted(cuts)
    assert cuts[0] < cuts[-1]
    assert len(cut(document(topics("leave")), "semantic", percentile=1)) == 1


def test_fewer_sentences_than_the_least_are_not_cut_off() -> None:
    source = document(topics("aa", "bb", "cc", "dd", "ee", "ff", "gg", "hh", times=2))
    made = cut(source, "semantic", percentile=1)
    assert all(c.text.count(".") >= 3 for c in made[:-1])


def test_a_heading_always_begins_a_chunk_and_one_right_below_another_does_not() -> None:
    source = document(
        heading("Leave", 1),
        heading("Days", 2),
        topics("leave", times=1),
        heading("Notice", 2),
        topics("leave"),
    )
    made = cut(source, "semantic")
    assert [c.text.split("\n")[0] for c in made] == ["Leave", "Notice"]
    assert made[0].text.startswith("Leave\n\nDays\n\nLeave leave")


def test_what_stays_together_is_still_not_longer_than_a_chunk_may_be() -> None:
    made = cut(document(topics("leave", times=20)), "semantic", chunk_tokens=64)
    assert [words(c.text) for c in made] == [50, 50, 50, 50]


def test_windows_are_embedded_once_and_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(IndexSettings, "window", 2)
    seen: list[Sequence[str]] = []

    def watched(texts: Sequence[str]) -> npt.NDArray[np.float32]:
        seen.append(texts)
        return embed(texts)

    source = document(paragraph(*(f"{letter}{letter}" for letter in "abcdefgh")))
    chunk(source, IndexSettings(chunker="semantic"), words, watched)
    (texts,) = seen
    assert (
        len(texts) == len(set(texts)) == 9
    )  # seven of two sentences, the first and the last alone
    assert {words(one) for one in texts} == {10, 20}


def test_without_an_embedder_it_says_what_to_do() -> None:
    with pytest.raises(BadSetting, match=r"models\.embedder is `none`") as wrong:
        chunk(document(text("One.")), IndexSettings(chunker="semantic"), words)
    assert "index.chunker" in wrong.value.hint


# pattern ------------------------------------------------------------------------------------------


def test_every_match_begins_a_chunk_and_what_is_before_the_first_is_one_too() -> None:
    source = document(
        text("Preamble."),
        text("§ 1 Leave is granted.\n§ 2 It is paid."),
        heading("§3", 1),
        text("End."),
    )
    assert [c.text for c in cut(source, "pattern")] == [
        "Preamble.", "§ 1 Leave is granted.", "§ 2 It is paid.", "§3\n\nEnd.",
    ]  # fmt: skip


def test_a_match_inside_a_sentence_begins_a_chunk_and_white_space_does_not() -> None:
    made = cut(
        document(text("It holds (a) for one (b) for the other.")), "pattern", pattern=r"\s\([a-z]\)"
    )
    assert [c.text for c in made] == ["It holds", "(a) for one", "(b) for the other."]


def test_a_clause_that_is_too_long_is_cut_evenly_between_sentences() -> None:
    clause = text("§ 1 " + " ".join(sentence("word", 10) for _ in range(12)))
    made = cut(document(clause, text("§ 2 Short.")), "pattern", chunk_tokens=64)
    assert [words(c.text) for c in made] == [62, 60, 3]
    assert all(c.text.endswith(".") for c in made)


def test_rows_that_begin_chunks_repeat_the_header() -> None:
    made = cut(document(TABLE), "pattern", pattern=r"(?m)^\| Grade \d")
    assert [c.header for c in made[:3]] == ["", *["| Grade | Days |\n| --- | --- |"] * 2]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("", "needs index.pattern"),
        ("(", "is no regular expression"),
        ("a{99999999999999999999}", "is no regular expression"),
        ("(" * 5000 + ")" * 5000, "is no regular expression"),
        ("x*", "matches the empty text"),
    ],
)
@pytest.mark.parametrize("engine", [pattern._engine, re])
def test_a_pattern_that_cannot_be_meant_is_refused(
    wrong: str, said: str, engine: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pattern, "_engine", engine)
    with pytest.raises(BadSetting, match=said) as refused:
        cut(document(text("x")), "pattern", pattern=wrong)
    assert "(?m)^§" in refused.value.hint


def test_a_pattern_that_takes_for_ever_fails_the_document(monkeypatch: pytest.MonkeyPatch) -> None:
    if pattern._engine is re:
        pytest.skip("the package regex is not installed")
    monkeypatch.setattr(pattern, "SECONDS", 0.05)
    with pytest.raises(SourceError, match=r"index\.pattern takes more than"):
        cut(document(text("x" * 300)), "pattern", pattern="(x+x+)+y")


def test_without_a_stoppable_engine_the_time_is_looked_at_between_matches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pattern, "_engine", re)
    assert [c.text for c in cut(document(text("§ 1 One.\n§ 2 Two.")), "pattern")] == [
        "§ 1 One.",
        "§ 2 Two.",
    ]
    monkeypatch.setattr(pattern, "SECONDS", -1.0)
    with pytest.raises(SourceError):
        cut(document(text("§ 1 One.")), "pattern")


# fixed --------------------------------------------------------------------------------------------


def test_windows_are_full_and_share_what_they_should() -> None:
    source = document(
        text(" ".join(f"w{n}" for n in range(200))), heading("Even a heading", 2), text("The end.")
    )
    made = cut(source, "fixed", chunk_tokens=65, overlap_tokens=16)
    assert [words(c.text) for c in made] == [64, 64, 64, 61]
    assert [words(both) for both in shared(made, source)] == [16, 16, 16]
    assert made[1].text.startswith("w48 ")


@settings(max_examples=100, deadline=None)
@given(documents(SPACED), st.integers(32, 80), st.sampled_from([words, len]))
def test_no_window_has_room_for_one_word_more(
    source: Document, most: int, count: Callable[[str], int]
) -> None:
    made = cut(source, "fixed", count, chunk_tokens=most, overlap_tokens=0)
    for c, follower in pairwise(made):
        if c.start and not source.text[c.start - 1].isspace():
            continue  # the rest of a word longer than a window stands alone
        word = follower.text.split()[0]
        ends_word = source.text[c.end].isspace()
        after = source.text[follower.end : follower.end + 1]
        if ends_word and after in {"", " ", "\n"}:
            text_and_word = source.text[c.start : follower.start + len(word)]
            longer = c.model_copy(update={"text": text_and_word})
            assert size_of(longer, count) > most


def test_scripts_without_spaces_are_cut_between_characters() -> None:
    made = cut(document(text(CJK)), "fixed", len, chunk_tokens=64, overlap_tokens=10)
    assert {size_of(c, len) for c in made[:-1]} <= {63, 64}
    assert not any(c.text.startswith("。") for c in made)


def test_one_word_longer_than_a_window_is_cut_and_its_neighbours_are_not() -> None:
    made = cut(
        document(text("before " + "x" * 100 + " after")),
        "fixed",
        len,
        chunk_tokens=64,
        overlap_tokens=0,
    )
    assert [c.text for c in made] == ["before", "x" * 58, "x" * 42, "after"]
