"""Which spans make an answer without a model."""

from ombud.answer.quoting.choosing import choose
from ombud.answer.quoting.spans import AnswerSpan, spoken_text
from ombud.types import Chunk, Hit

TABLE = "| Working week | Annual leave |\n|---|---|\n| 5 days | 30 days |\n| 4 days | 24 days |"


def span(text: str, score: float, chunk: str = "a", at: int = 0) -> AnswerSpan:
    of = Chunk(
        id=chunk,
        document_id="d",
        title="Leave",
        uri="leave.md",
        text=TABLE,
        start=0,
        end=len(TABLE),
    )
    return AnswerSpan(Hit(chunk=of, score=1.0), at, at + len(text), text, score)


def chosen(*spans: AnswerSpan) -> list[str]:
    return [one.text for one in choose(sorted(spans, key=lambda s: -s.score), None)]


def test_a_row_is_read_with_the_names_of_its_columns() -> None:
    at = TABLE.index("| 5 days")
    assert (
        spoken_text(span("| 5 days | **30 days** |", 0.9, at=at))
        == "Working week: 5 days; Annual leave: **30 days**"
    )
    row = span("| 5 days | | 30 days |", 0.9, at=at)
    assert spoken_text(row) == "Working week: 5 days; 30 days"
    assert spoken_text(span("Leave is 30 days.", 0.9)) == "Leave is 30 days."


def test_the_rows_of_a_table_take_one_place() -> None:
    rows = [span(f"| {n} days | {6 * n} days |", 0.95, at=n) for n in range(1, 4)]
    others = [span(f"Sentence number {n} of the page.", 0.9, at=10 + n) for n in range(5)]
    found = chosen(*rows, *others)
    assert [text for text in found if text.startswith("|")] == [row.text for row in rows]
    assert len(found) == 3 + 5  # the table and five more places


def test_of_a_long_table_four_rows_are_enough() -> None:
    assert len(chosen(*(span(f"| {n} days | x |", 0.95, at=n) for n in range(9)))) == 4


def test_a_row_much_less_likely_than_the_best_of_its_table_stays_out() -> None:
    # Odds of 19 and of 1.5: less than a fifth.
    assert chosen(
        span("| annual leave | 30 days |", 0.95), span("| car park | free |", 0.6, at=1)
    ) == ["| annual leave | 30 days |"]
    # The same row of another table takes a place of its own.
    assert (
        len(
            chosen(
                span("| annual leave | 30 days |", 0.95),
                span("| car park | free |", 0.6, "b", at=1),
            )
        )
        == 2
    )


def of_topic(text: str, score: float, chunk: str, countries: tuple[str, ...]) -> AnswerSpan:
    of = span(text, score, chunk)
    its_chunk = of.hit.chunk.model_copy(update={"topic": "contracts", "countries": countries})
    return of._replace(hit=of.hit.model_copy(update={"chunk": its_chunk}))


def test_an_unlikely_local_rule_does_not_silence_the_global_one_on_its_wide_topic() -> None:
    bonus = "The referral bonus is EUR 1,500."
    notice = "Notice is one month from either side."
    globally = of_topic(bonus, 0.3, "global", ())
    assert bonus in chosen(globally, of_topic(notice, 0.05, "local", ("GB",)))
    assert bonus not in chosen(globally, of_topic(notice, 0.25, "local", ("GB",)))


def test_a_floor_does_not_silence_the_local_rule_that_goes_beyond_it() -> None:
    floor = of_topic("No employee has fewer than 20 days of leave.", 0.5, "global", ())
    mandatory = floor.hit.chunk.model_copy(update={"mandatory": True})
    floor = floor._replace(hit=floor.hit.model_copy(update={"chunk": mandatory}))
    local = of_topic("In Great Britain it is 26 days.", 0.08, "local", ("GB",))
    assert chosen(floor, local)[0] == "In Great Britain it is 26 days."


def test_of_two_passages_about_as_good_the_one_that_says_more_leads() -> None:
    words = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    alone = [span(f"Alone {words}.", 0.6, "a"), span(f"Beside the point {words}.", 0.05, "a", 200)]
    together = [span(f"Rule {n} {words}.", 0.5, "b", 200 * n) for n in range(3)]
    assert chosen(*alone, *together)[0] == f"Rule 0 {words}."


def test_many_sentences_that_hardly_answer_do_not_lead_before_one_that_does() -> None:
    words = " ".join(f"word{n}" for n in range(26))
    many = [span(f"Parking {n} {words}.", 0.4, "b", 300 * n) for n in range(10)]
    assert chosen(span("Leave is 30 days.", 0.95, "a"), *many)[0] == "Leave is 30 days."
