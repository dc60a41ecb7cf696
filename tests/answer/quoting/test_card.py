"""What an answer without a model shows: the sentence, item or table that answers, its section below
it, and further sections folded."""

from collections.abc import Mapping

from ombud.answer.quoting.card import answer_card
from ombud.answer.quoting.sections import choose_sections, rank_sections
from ombud.answer.quoting.spans import candidate_spans
from ombud.types import Annotation, Block, Chunk, Document, Evidence, Hit, Person, Question

PASS = (
    "Larkmere reimburses 75 % of a transport pass. Upload the receipt in Compass.\n\n"
    "After this, the refund comes with the next pay."
)


def page(*sections: tuple[str, str]) -> Document:
    blocks: list[Block] = []
    for heading, text in sections:
        blocks.append(Block(kind="heading", text=heading, level=2))
        blocks += [Block(kind="text", text=part) for part in text.split("\n\n")]
    text = "\n\n".join(block.text for block in blocks)
    return Document(
        id="d", source="files", uri="a.md", title="Handbook", text=text, blocks=tuple(blocks)
    )


def shown(
    document: Document,
    likely: Mapping[str, float],
    question: str = "what is the rule?",
    asker: Person | None = None,
    passages: int = 0,
) -> str:
    """The card of a page of which the sentences that hold these words are as likely as that.

    passages: of a section this many first characters were not found."""
    hits: list[Hit] = []
    start = 0
    heading = ""
    for block in document.blocks:
        if block.kind == "heading":
            heading = block.text
        elif len(block.text) > passages:
            hits.append(hit_of(document, heading, start + passages, start + len(block.text)))
        start += len(block.text) + 2
    spans = []
    for span in candidate_spans(Evidence(shared=tuple(hits))):
        scores = [score for words, score in likely.items() if words in span.text]
        spans.append(span._replace(score=max(scores, default=0.0)))
    sections = choose_sections(rank_sections(spans))
    asked = Question(text=question, asker=asker or Person())
    return answer_card(sections, asked, lambda *_: document).text


def hit_of(document: Document, heading: str, start: int, end: int) -> Hit:
    chunk = Chunk(
        id=f"{heading}{start}",
        document_id="d",
        title="Handbook",
        trail=("Handbook", heading),
        uri="a.md",
        text=document.text[start:end],
        start=start,
        end=end,
    )
    return Hit(chunk=chunk, score=1.0)


def test_the_sentence_that_answers_leads_and_its_section_follows() -> None:
    text = shown(page(("Transport", PASS)), {"75 %": 0.9})
    assert text.startswith("**Larkmere reimburses 75 % of a transport pass.** [1]\n\n*Handbook")
    assert "Upload the receipt in Compass." in text
    assert text.count("[1]") == 1


def test_a_sentence_stands_behind_what_it_points_back_to() -> None:
    text = shown(page(("Transport", PASS)), {"After this": 0.9})
    first = text.split("\n\n")[0]
    assert "Upload the receipt in Compass. After this, the refund comes" in first


def test_what_it_points_back_to_may_stand_in_a_passage_that_was_not_found() -> None:
    document = page(("Transport", PASS.replace("\n\n", " ")))
    found_from = PASS.index("After this")
    text = shown(document, {"After this": 0.9}, passages=found_from)
    assert "Upload the receipt in Compass. After this" in text.split("\n\n")[0]


def test_a_section_ends_at_the_next_heading() -> None:
    text = shown(page(("Transport", PASS), ("Parking", "Parking is free of charge.")), {"75 %": 1})
    assert "Parking" not in text


FORBIDDEN = (
    "Users shall not use the network to:\n\n"
    "- Send chain letters to all of a site.\n- Copy licensed films.\n- Offer goods for sale."
)


def test_an_item_leads_behind_the_line_that_introduces_its_list() -> None:
    text = shown(page(("Network", FORBIDDEN)), {"Copy": 0.9})
    assert text.startswith("**Users shall not use the network to: Copy licensed films.** [1]")
    assert "- Send chain letters to all of a site." in text


def test_an_item_without_such_a_line_leads_behind_its_heading() -> None:
    items = "- Fines and penalties.\n- Minibar, films and spa."
    text = shown(page(("What is not reimbursed", items)), {"Minibar": 0.9})
    assert text.startswith("**What is not reimbursed: Minibar, films and spa.**")


def test_an_item_leads_behind_the_item_above_it() -> None:
    items = "You may book:\n\n- Five days ahead for:\n  - Training below 2,500 dollars."
    text = shown(page(("Booking", items)), {"Training": 0.9})
    assert text.startswith("**You may book: Five days ahead for: Training below 2,500 dollars.**")


def test_a_numbered_list_keeps_its_numbers() -> None:
    steps = "1. Ask your manager first.\n2. Book it in Compass yourself.\n3. Tell your team of it."
    text = shown(page(("Booking", steps)), {"Compass": 0.9})
    assert text.startswith("**Booking: Book it in Compass yourself.** [1]")
    assert text.endswith(steps)


def test_items_without_room_are_counted() -> None:
    items = "\n".join(f"- Step number {n} of the way to the other side of it." for n in range(30))
    text = shown(page(("Steps", items)), {"number 12 ": 0.9})
    listed = sum(f"- Step number {n} " in text for n in range(30))
    assert 3 < listed < 29
    assert f"*{30 - listed} more in this list.*" in text


ROWS = [f"| G{n} | {n} weeks of notice to the end of a month |" for n in range(1, 31)]
NOTICE = "\n".join(["| Grade | Notice |", "| --- | --- |", *ROWS])


def test_the_row_that_applies_leads_and_of_a_short_table_the_others_follow() -> None:
    short = "\n".join(NOTICE.split("\n")[:5])
    document = page(("Notice", short))
    text = shown(document, {"G2": 0.9}, asker=Person(grade="G2"))
    row = "| G2 | 2 weeks of notice to the end of a month ← **G2** [1] |"
    assert text.startswith(f"*Handbook · Notice*\n\n| Grade | Notice |\n| --- | --- |\n{row}\n\n")
    assert "| G3 |" in text
    alike = shown(document, {"G1": 0.5, "G2": 0.5}, question="how much notice?")
    assert alike.startswith("*Handbook · Notice*\n\n| Grade | Notice |\n| --- | --- |\n| G1 |")


def test_a_table_beside_the_sentence_that_answers_is_shown_whole_or_not_at_all() -> None:
    before = " ".join(f"The {n}th sentence has nothing to say about notice." for n in range(12))
    table = "\n".join(NOTICE.split("\n")[:10])
    text = shown(
        page(("Notice", f"{before}\n\n{table}\n\nFour weeks are 28 days.")),
        {"28 days": 0.9, "| G": 0.3, "sentence": 0.1},
    )
    assert text.startswith("**Four weeks are 28 days.** [1]")
    assert [f"| G{n} |" in text for n in range(1, 9)] == [True] * 8
    likelier = {"28 days": 0.9, "| G": 0.01, "sentence": 0.1}
    long = shown(page(("Notice", f"{NOTICE}\n\nFour weeks are 28 days. {before}")), likelier)
    assert "| G" not in long


def test_of_a_long_table_the_row_that_applies_leads_alone() -> None:
    text = shown(
        page(("Notice", NOTICE)), {"G2 ": 0.9}, question="notice?", asker=Person(grade="G17")
    )
    assert "| G17 | 17 weeks" in text
    assert "| G2 |" not in text


def test_rows_that_are_left_out_are_counted() -> None:
    text = shown(page(("Notice", NOTICE)), {"| G2 |": 0.9, "| G3 |": 0.85})
    assert "| G2 |" in text
    assert "| G3 |" in text
    assert "*28 more in this table.*" in text


def test_a_further_section_is_folded_to_its_line() -> None:
    document = page(
        ("Transport", PASS),
        ("Bicycles", "A bicycle may be leased. It is insured against theft by the company."),
        ("Parking", "Parking is free of charge for everybody."),
    )
    text = shown(document, {"75 %": 0.9, "leased": 0.6, "free of charge": 0.2})
    assert text.endswith("*Handbook · Bicycles*\n\nA bicycle may be leased. [2]")


def test_what_the_stored_text_does_not_bear_out_is_left_out() -> None:
    document = page(("Transport", PASS))
    changed = document.model_copy(update={"text": document.text.replace("75 %", "95 %")})
    hit = hit_of(document, "Transport", document.text.index("Larkmere"), len(document.text))
    spans = [span._replace(score=0.9) for span in candidate_spans(Evidence(shared=(hit,)))]
    card = answer_card(rank_sections(spans[:1]), Question(text="?"), lambda *_: changed)
    assert not card.claims


def test_a_heading_is_read_and_not_followed() -> None:
    document = page(("Log in [here](https://evil.example)", "Fines are paid by you alone."))
    text = shown(document, {"Fines": 0.9})
    assert "](https" not in text.replace("\\](", "")


def test_a_footnote_mark_is_no_marker_of_ours() -> None:
    document = page(("Sundays", "Work on a Sunday earns a bonus of 45 [2] percent."))
    start = document.text.index("[2]")
    mark = Annotation(start=start, end=start + 3, kind="footnote", text="Of the base pay.")
    text = shown(document.model_copy(update={"annotations": (mark,)}), {"bonus": 0.9})
    assert "a bonus of 45 ²⁾ percent.** [1]" in text


def local(
    document: Document,
    country: str,
    topic: str,
    likelihood: float,
    *,
    mandatory: bool = False,
    score: float = 1.0,
) -> Hit:
    hit = hit_of(document, "Leave", len("Leave\n\n"), len(document.text))
    update = {
        "id": f"{country}{likelihood}",
        "document_id": country or f"global{mandatory}",
        "countries": (country,) if country else (),
        "topic": topic,
        "mandatory": mandatory,
    }
    return Hit(chunk=hit.chunk.model_copy(update=update), score=score)


def led_by(*hits: tuple[Hit, float]) -> list[str]:
    """Documents that are shown of these hits with their likelihoods."""
    spans = []
    for hit, likelihood in hits:
        for span in candidate_spans(Evidence(shared=(hit,))):
            spans.append(span._replace(score=likelihood))
    return [section.chunk.document_id for section in choose_sections(rank_sections(spans))]


def test_a_countrys_rule_stands_in_place_of_the_global_default() -> None:
    days = page(("Leave", "You have 25 days of leave."))
    jours = page(("Leave", "You have 30 days, from June to May."))
    everywhere = local(days, "", "leave", 0.8)
    assert led_by((everywhere, 0.8), (local(jours, "FR", "leave", 0.4), 0.4)) == ["FR"]
    further_down = local(jours, "FR", "pay", 0.4, score=0.6)
    assert led_by((everywhere, 0.8), (further_down, 0.4))[0] == "globalFalse"
    assert led_by((everywhere, 0.8), (local(jours, "FR", "leave", 0.1), 0.1)) == ["globalFalse"]


def test_a_far_likelier_global_rule_stands_beside_a_countrys() -> None:
    everywhere = local(page(("Leave", "Up to three days can be bought.")), "", "leave", 0.9)
    own = local(page(("Leave", "You have 30 days.")), "DE", "leave", 0.1)
    own = own.model_copy(update={"found_by": ("counterpart",)})
    assert led_by((everywhere, 0.9), (own, 0.1)) == ["DE", "globalFalse"]


def test_a_global_floor_follows_a_countrys_rule() -> None:
    days = page(("Leave", "You have at least 20 days of leave."))
    jours = page(("Leave", "You have 30 days, from June to May."))
    floor = local(days, "", "leave", 0.8, mandatory=True)
    assert led_by((floor, 0.8), (local(jours, "FR", "leave", 0.1), 0.1)) == ["FR", "globalTrue"]


def test_what_the_search_found_first_is_shown_though_less_likely() -> None:
    old = page(("Rates", "A kilometre is refunded with 28 cents."))
    new = page(("Rates", "A kilometre is refunded with 34 cents from April."))
    first = local(old, "", "cars", 0.8, score=0.8)
    mail = local(new, "", "mail", 0.3, score=0.9, mandatory=True)
    assert led_by((first, 0.8), (mail, 0.3)) == ["globalFalse", "globalTrue"]
    found_later = mail.model_copy(update={"score": 0.5})
    assert led_by((first, 0.8), (found_later, 0.3)) == ["globalFalse"]
