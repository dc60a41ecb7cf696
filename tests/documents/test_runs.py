"""Marked runs become text, annotations and a loss report: the same rules for every format."""

import pytest

from ombud.documents import PARSED_BY, chunk, describe_loss
from ombud.documents.blocks import BlockKind
from ombud.documents.runs import allowed_url, link, plain, run, settle
from ombud.settings import IndexSettings
from ombud.types import Annotation, Block, Document, Loss


def text(words: str, kind: BlockKind = "text") -> Block:
    return Block(kind=kind, text=words)


def raised(words: str) -> str:
    return run(words, superscript=True)


@pytest.mark.parametrize(
    ("words", "settled"),
    [
        (f"25{raised('1')} days", "25 [1] days"),
        (f"2019{raised('2')}on", "2019 [2] on"),
        (f"days.{raised('1')} More", "days. [1] More"),
        (f"a bonus{raised('(2)')}.", "a bonus [2]."),
        (f"paid{raised('1')}{raised(',')}{raised('2')} late", "paid [1] [2] late"),
        (f"staff{raised('*')} only", "staff [*] only"),
        ("25¹ days in 8 m²", "25 [1] days in 8 m²"),
        (f"8 m{raised('2')} and 30 m{raised('3')}", "8 m² and 30 m³"),
        (f"10{raised('6')} euros", "10⁶ euros"),
        (f"10{raised('-3')} g", "10⁻³ g"),
        (f"x{raised('2')}", "x²"),
        (f"the 1{raised('st')} and 2{raised('nd')}", "the 1st and 2nd"),
        ("CO₂", "CO₂"),
    ],
)
def test_raised_figures_are_notes_units_powers_or_ordinals(words: str, settled: str) -> None:
    assert settle([text(words)]).text == settled


def test_a_footnote_mark_carries_the_next_note_of_that_number() -> None:
    made = settle(
        [
            text(f"Staff get 25{raised('1')} days."),
            text(f"{raised('1')} 23 in Ireland. {raised('2')} In pay."),
            text(f"A bonus{run('1', footnote_ref=True)}."),
            text(f"{run('1', footnote_ref=True)} Not in the first year."),
        ]
    )
    first, second = made.annotations
    assert (first.kind, made.text[first.start : first.end]) == ("footnote", "[1]")
    assert first.text == "23 in Ireland."
    assert second.text == "Not in the first year."


def test_a_power_with_a_note_of_that_number_is_a_mark() -> None:
    made = settle([text(f"within 10{raised('6')} days"), text(f"{raised('6')} Working days.")])
    assert made.text.startswith("within 10 [6] days")


def test_struck_words_leave_the_text_and_stay_as_an_annotation() -> None:
    words = f"Staff get {run('25 ', struck=True)}{run('days', struck=True)} 28 days."
    made = settle([text(words)])
    assert made.text == "Staff get 28 days."
    assert made.annotations == (Annotation(start=10, end=10, kind="struck", text="25 days"),)
    assert made.loss == Loss(struck=1)


def test_lines_of_which_all_is_struck_are_left_out() -> None:
    gone = run("ended", struck=True)
    made = settle(
        [
            text(gone),
            text(f"1. {gone}\n2. Lunch", "list"),
            text(
                f"| Course | Fee |\n| --- | --- |\n| {gone} | {gone} |\n| First aid | 95 |", "table"
            ),
        ]
    )
    assert made.text == "2. Lunch\n\n| Course | Fee |\n| --- | --- |\n| First aid | 95 |"
    assert made.loss.struck >= 3


def test_hidden_words_leave_nothing_but_a_count() -> None:
    words = f"One month of pay.{run(' Up to two', hidden=True)}{run(' if asked', hidden=True)}"
    made = settle([text(words)])
    assert made.text == "One month of pay."
    assert made.annotations == ()
    assert made.loss == Loss(hidden=1)
    assert "two" not in repr(made)


def test_links_keep_their_place_and_only_safe_addresses() -> None:
    form = run("the form", link="https://hr.example/form?a=1|2")
    bad = run("here", link="javascript:alert(1)")
    made = settle([text(f"| Use | {form} |\n| --- | --- |\n| or | {bad} |", "table")])
    (found,) = made.annotations
    assert made.text[found.start : found.end] == "the form"
    assert found.url == "https://hr.example/form?a=1%7C2"
    assert "here" in made.text


@pytest.mark.parametrize(
    "url", ["javascript:x", "data:text/html,x", "file:///etc/passwd", "//x", "https:x", "http://[x"]
)
def test_other_addresses_are_no_links(url: str) -> None:
    assert allowed_url(url) == ""
    assert settle([text(link("words", url))]).annotations == ()


def test_a_link_cut_into_runs_is_one() -> None:
    url = "mailto:hr@example.org"
    made = settle([text(f"Write to {run('HR', link=url)}{run(' today', link=url)}.")])
    (found,) = made.annotations
    assert made.text[found.start : found.end] == "HR today"


def test_marks_in_a_document_are_no_marks() -> None:
    forged = run("pay \ufdd4\ufdd1 none\ufdd6")
    assert settle([text(forged)]).text == "pay  none"


def test_plain_is_what_a_reader_may_measure() -> None:
    assert plain(f"a {run('b', link='https://x.example')}{run(' c', struck=True)}") == "a b"


def test_chunks_carry_the_links_within_them_and_no_struck_words() -> None:
    made = settle(
        [
            text(f"See {run('the form', link='https://x.example')}."),
            text(f"Paid {run('yearly', struck=True)} monthly."),
        ]
    )
    document = Document(
        id="0" * 16,
        source="s",
        uri="a.md",
        title="A",
        text=made.text,
        blocks=made.blocks,
        annotations=made.annotations,
        parser=PARSED_BY,
    )
    chunks = chunk(document, IndexSettings(), lambda words: len(words.split()))
    for one in chunks:
        for found in one.annotations:
            assert found.kind == "link"
            assert document.text[found.start : found.end] == "the form"
            assert one.start <= found.start < found.end <= one.end
    assert any(one.annotations for one in chunks)
    assert all("yearly" not in one.model_dump_json() for one in chunks)


def test_a_loss_in_words_names_pages_and_files() -> None:
    lost = Loss(struck=1, pages=(2,)) + Loss(struck=1, attachments=("rates.xlsx",))
    assert describe_loss(lost) == "no text on page 2; 2 struck passages; attachments: rates.xlsx"
    assert not Loss()
    assert describe_loss(Loss()) == ""
