from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.makers import hit
from ombud.errors import LabError
from ombud.lab.synthesis.choosing import Synthesis, quotas, strata, synthesise
from ombud.lab.synthesis.phrasing import mistyped, own, plain, sentence_spans
from ombud.lab.synthesis.quantities import ask_for_number
from ombud.lab.synthesis.questions import propose
from ombud.lab.synthesis.vocabulary import CorpusVocabulary
from ombud.types import Chunk

TOPICS = (
    "parental leave, sick pay, travel costs, remote work, laptop returns, expense claims, "
    "parking permits, meals"
)
PLACES = (
    "northern hill,southern coast,eastern river,western lake,upper forest,lower valley,inner city,"
    "outer sea,far camp"
)

TABLE = """| Role | Notice period | Approval |
| --- | --- | --- |
| Interns | 2 weeks | Manager |
| Senior staff | 3 months | Board |"""


def chunk(text: str, *trail: str, uri: str = "hr/leave.md", start: int = 0, **fields: Any) -> Chunk:
    return hit(text, uri, start, trail=trail, **fields).chunk


def section(topic: str, uri: str, start: int = 0, words: int = 30) -> Chunk:
    filler = " ".join(["Managers look at each case and keep a short record."] * (words // 10))
    text = f"Everyone who asks for {topic} writes to the people team with a reason and a date."
    text = f"{text} {filler}"
    return chunk(text, "Handbook of the company", topic.capitalize(), uri=uri, start=start)


def handbook(documents: int = 8) -> list[Chunk]:
    return [
        section(f"{topic} in {place}", f"hr/{number}.md", 1000 * at, words=20 + 10 * number)
        for number, place in enumerate(PLACES.split(",")[:documents])
        for at, topic in enumerate(TOPICS.split(", "))
    ]


def pairs_of(made: Chunk, kind: str, seed: int = 0) -> list[tuple[str, str, str]]:
    found = propose(made, CorpusVocabulary([made.text]), Random(seed))[kind]
    return [(pair.wording, pair.quote, pair.answer) for pair in found]


def questions(made: Chunk, kind: str) -> set[str]:
    """Every wording that the templates may give."""
    return {question for seed in range(60) for question, _, _ in pairs_of(made, kind, seed)}


def balanced(made: Synthesis) -> None:
    account = made.account
    assert account.proposed == sum(account.fallen.values()) + account.kept
    assert (
        account.kept
        == len(made.cases)
        == sum(account.kinds.values())
        == sum(account.strata.values())
    )


# What is asked ------------------------------------------------------------------------------------


def test_a_heading_is_asked_about_and_its_first_sentences_answer() -> None:
    text = (
        "Parental leave lasts as long as the law of your country says. You must tell us early."
        "\n\nOther matters."
    )
    made = chunk(text, "Time off", "Parental leave")
    assert "What are the rules on parental leave?" in questions(made, "heading")
    assert {quote for _, quote, _ in pairs_of(made, "heading")} == {text.split("\n")[0]}


@pytest.mark.parametrize(
    "heading",
    [
        "Overview",
        "FAQ",
        "Notes",
        "Additional resources",
        "https://example.org",
        "Leah Miller",
        "This page",
        "1.",
        "#",
    ],
)
def test_headings_that_name_nothing_are_not_asked_about(heading: str) -> None:
    text = f"{heading} is where Leah Miller says that resources, notes and pages are kept for all."
    assert not pairs_of(chunk(text, "Handbook", heading), "heading")


def test_a_heading_that_tells_to_do_something_asks_how() -> None:
    made = chunk(
        "Open the portal and request the laptop that you need for work.", "IT", "Request a laptop"
    )
    assert "How do I request a laptop?" in questions(made, "heading")


def test_a_heading_that_is_a_question_is_put_otherwise() -> None:
    made = chunk(
        "Yes, you can carry five days of leave over to March.",
        "FAQ",
        "Q: Can you explain it? Can I carry leave over?",
    )
    assert not pairs_of(made, "heading")
    made = chunk(
        "Yes, you can carry five days of leave over to March.", "FAQ", "Q: Can I carry leave over?"
    )
    assert "Am I allowed to carry leave over?" in questions(made, "heading")


def test_purpose_and_scope_are_asked_of_what_stands_above() -> None:
    made = chunk(
        "It applies to all employees and contractors of the company.",
        "Access control policy",
        "Scope",
    )
    assert "Who and what does the access control policy apply to?" in questions(made, "heading")


def test_joined_sections_answer_their_own_headings() -> None:
    text = (
        "Misconduct reports stay secret if possible.\n\nYearly training\n\n"
        "All staff take yearly training online."
    )
    made = chunk(text, "Conduct", "Misconduct reports / Yearly training")
    found = {quote: question for question, quote, _ in pairs_of(made, "heading")}
    assert "training" in found["All staff take yearly training online."].lower()


def test_the_rest_of_a_section_does_not_answer_its_heading() -> None:
    first, second = (
        chunk("Sick pay is full for sick weeks.", "Pay", "Sick pay", start=at) for at in (0, 100)
    )
    assert not propose(second, CorpusVocabulary([]), Random(0), first)["heading"]


@pytest.mark.parametrize(
    ("sentence", "asked"),
    [
        ('"Complainant" means a person who reports misconduct.', 'What is meant by "complainant"?'),
        (
            "A working group is a small team that meets for one outcome only.",
            "What is a working group?",
        ),
        (
            "**Sabbatical**: An unpaid break of up to a year after long service.",
            'What does "sabbatical" mean?',
        ),
        (
            "We follow the Employee Assistance Program (EAP) in all offices.",
            "What does EAP stand for?",
        ),
    ],
)
def test_definitions_and_abbreviations(sentence: str, asked: str) -> None:
    made = chunk(sentence)
    assert asked in questions(made, "definition")
    assert {quote for _, quote, _ in pairs_of(made, "definition")} == {sentence}


def test_an_abbreviation_is_answered_by_what_it_stands_for() -> None:
    made = chunk(
        "The memorandum of understanding (MOU) is signed by the Office of Acquisition (OA)."
    )
    assert {answer for _, _, answer in pairs_of(made, "definition")} == {
        "memorandum of understanding",
        "Office of Acquisition",
    }


@pytest.mark.parametrize(
    "sentence",
    ["This is a good way to ask for help.", "It is a pity that you leave us now, really."],
)
def test_what_only_looks_like_a_definition(sentence: str) -> None:
    assert not pairs_of(chunk(sentence), "definition")


def test_a_cell_is_asked_for_by_row_and_column() -> None:
    made = chunk(TABLE, "Leaving", "Notice")
    assert "What is the notice period for senior staff?" in questions(made, "table")
    rows = {
        answer: quote for seed in range(60) for _, quote, answer in pairs_of(made, "table", seed)
    }
    assert rows["3 months"] == "| Senior staff | 3 months | Board |"


def test_the_header_of_a_cut_table_names_its_columns() -> None:
    head, rows = TABLE.split("\n| Interns")
    made = chunk("| Interns" + rows, "Leaving", "Notice", header=head)
    assert "What is the notice period for senior staff?" in questions(made, "table")


def test_a_history_of_versions_is_no_table_to_ask_about() -> None:
    text = TABLE.replace("Approval", "Author")
    assert not pairs_of(chunk(text, "Policy", "Changes"), "table")


@pytest.mark.parametrize(
    ("sentence", "asked"),
    [
        (
            "Employees may take up to 5 days of paid leave per year.",
            "Up to how many days of paid leave may employees take per year?",
        ),
        (
            "You must hand in travel expenses within 30 days of your return.",
            "Within how many days of my return must I hand in travel expenses?",
        ),
        (
            "If you fall ill, you must tell your manager within 2 hours.",
            "Within how many hours must I tell my manager if I fall ill?",
        ),
        (
            "The company pays $500 for a home office.",
            "How much does the company pay for a home office?",
        ),
        (
            "The company pays €2 500 for a home office.",
            "How much does the company pay for a home office?",
        ),
        (
            "Submit the expense report within two weeks.",
            "Within how many weeks do I have to submit the expense report?",
        ),
        (
            "80% of our working time is kept for projects.",
            "What percentage of our working time is kept for projects?",
        ),
    ],
)
def test_a_sentence_with_a_number_is_turned_around(sentence: str, asked: str) -> None:
    found = ask_for_number(sentence, CorpusVocabulary([sentence]))
    assert found
    assert found.question == asked


@pytest.mark.parametrize(
    "sentence",
    [
        "Between 3 and 5 people may take 10 days of leave.",
        "They must return it within 5 days of that.",
        "The policy was written in 2019 by the legal team.",
        "Everyone is welcome to join the weekly call.",
    ],
)
def test_no_number_is_asked_for_where_there_are_several_or_none(sentence: str) -> None:
    assert not ask_for_number(sentence, CorpusVocabulary([sentence]))


def test_what_you_are_told_is_what_i_ask() -> None:
    assert (
        own("what you are paid when your manager tells you")
        == "what I am paid when my manager tells me"
    )


def test_slips_leave_names_numbers_and_short_words_alone() -> None:
    text = "What does the Turing policy say on 401k plans?"
    slipped = {mistyped(text, Random(seed)) for seed in range(30)}
    assert text not in slipped
    assert all("Turing" in slip and "401k" in slip and slip.startswith("What") for slip in slipped)


def test_sentences_end_where_they_end() -> None:
    text = "Tell Dr. Smith, e.g. by mail. Then wait.\n- [ ] Ask for a badge\n- Go home"
    assert [plain(text[slice(*span)]) for span in sentence_spans(text)] == [
        "Tell Dr. Smith, e.g. by mail.",
        "Then wait.",
        "Ask for a badge",
        "Go home",
    ]


# What is kept -------------------------------------------------------------------------------------


def test_cases_are_what_a_run_needs() -> None:
    made = chunk(
        "Parental leave lasts as long as local law says.",
        "Time off",
        "Parental leave",
        countries=("GB",),
        page_from=3,
    )
    [case] = synthesise([made], 1).cases
    [passage] = case.evidence
    assert case.id.startswith("syn-")
    assert len(case.id) == 16
    assert (case.type, case.expect, case.person.country) == ("simple", "answer", "GB")
    assert (passage.document, passage.page, passage.grade) == ("hr/leave.md", 3, 2)
    assert passage.quote in made.text
    assert case.references[0].text == made.text
    assert case.tags[:2] == ("synthetic", "heading")
    assert case.tags[2] in {"plain", "terse", "colloquial", "typos"}


def test_quotes_are_verbatim_and_no_passage_is_used_twice() -> None:
    chunks = [*handbook(), chunk(TABLE, "Leaving", "Notice", uri="hr/notice.md")]
    made = synthesise(chunks, 60)
    holders = [
        next(
            c.id
            for c in chunks
            if c.uri == case.evidence[0].document and case.evidence[0].quote in c.text
        )
        for case in made.cases
    ]
    assert len(set(holders)) == len(holders) > 30
    assert len({case.id for case in made.cases}) == len(made.cases)
    balanced(made)


def test_the_same_seed_makes_the_same_cases_in_whatever_order() -> None:
    chunks = handbook()
    shuffled = Random(4).sample(chunks, len(chunks))
    assert synthesise(chunks, 20, seed=3) == synthesise(shuffled, 20, seed=3)
    assert synthesise(chunks, 20, seed=3).cases != synthesise(chunks, 20, seed=4).cases


def test_a_passage_given_twice_counts_once() -> None:
    assert synthesise([*handbook(2), *handbook(2)], 50) == synthesise(handbook(2), 50)


def test_big_documents_get_their_share_and_none_dominates() -> None:
    chunks = handbook(9)
    by_size = strata(chunks)
    assert [len(documents) for documents in by_size.values()] == [3, 3, 3]
    made = synthesise(chunks, 30)
    words = {
        name: sum(len(c.text.split()) for d in documents.values() for c in d)
        for name, documents in by_size.items()
    }
    assert made.account.strata == quotas(30, words)
    taken = Counter(case.evidence[0].document for case in made.cases)
    for documents in by_size.values():
        counts = [taken[uri] for uri in documents]
        assert max(counts) - min(counts) <= 1


def test_what_one_stratum_cannot_give_the_others_do() -> None:
    silent = [
        chunk("Nothing to see. " * 300, uri="hr/long.md"),
        chunk("Nothing here. " * 200, uri="hr/mid.md"),
    ]
    assert synthesise([*handbook(4), *silent], 20).account.kept == 20


def test_shares_add_up() -> None:
    assert (
        quotas(10, {"small": 1, "medium": 1, "large": 1}) == {"small": 3, "medium": 3, "large": 4}
        or sum(quotas(10, {"small": 1, "medium": 1, "large": 1}).values()) == 10
    )
    assert quotas(5, {"small": 0, "large": 9}) == {"small": 0, "large": 5}


def test_few_passages_give_fewer_cases_and_the_account_says_so() -> None:
    made = synthesise(handbook(1), 100)
    assert 0 < made.account.kept < 100
    assert "fewer than wanted" in made.account.as_text()
    balanced(made)


def test_every_check_is_in_the_account() -> None:
    text = synthesise(handbook(2), 5).account.as_text()
    for line in (
        "no answer in the passage: 0",
        "lexical duplicate: ",
        "too similar to its passage: ",
        "not needed: ",
    ):
        assert line in text
    assert "embedding duplicate: not checked: no embedder" in text
    assert "poor semantic relevance: not checked: no embedder" in text


def test_checks_count_what_falls_to_them() -> None:
    pointer = chunk(
        "See the parking page for all parking rules.", "Office", "Parking rules", uri="hr/a.md"
    )
    twins = [
        chunk("Dental plans pay for dental care abroad.", "Care", "Dental plans", uri=f"hr/{n}.md")
        for n in "bcdefghij"
    ]
    fallen = synthesise([pointer, *twins], 20).account.fallen
    assert fallen["no answer in the passage"] == 1
    assert fallen["lexical duplicate"] >= 1


def test_with_an_embedder_only_survivors_are_embedded() -> None:
    seen: list[str] = []

    def embed(texts: Sequence[str]) -> list[list[float]]:
        seen.extend(texts)
        return [
            [1.0, *(float(hash_of == at) for at in range(97))]
            for hash_of in (sum(map(ord, t)) % 97 for t in texts)
        ]

    pointer = chunk(
        "See the parking page for all parking rules.", "Office", "Parking rules", uri="hr/a.md"
    )
    made = synthesise([*handbook(3), pointer], 10, embed=embed)
    assert not any("parking rules" in text.lower() and text.endswith("?") for text in seen)
    assert "not checked" not in made.account.as_text()
    # 25 passages to compare with, then little more than a question and a passage a case.
    assert len(seen) <= 25 + 4 * 10
    balanced(made)


def test_one_topic_asked_twice_falls_to_the_embedder() -> None:
    made = synthesise(handbook(2), 10, embed=lambda texts: [[1.0, 0.0] for _ in texts])
    assert made.account.kept == 1
    assert made.account.fallen["embedding duplicate"] > 0
    balanced(made)


def test_other_languages_are_left_out_and_counted() -> None:
    foreign = [
        chunk("Der Urlaub beträgt 30 Tage im Jahr.", "Urlaub", language="de"),
        chunk("年次有給休暇は20日です。", "休暇", start=100, language="ja"),
    ]
    made = synthesise(foreign, 5)
    assert (made.cases, made.account.language, made.account.proposed) == ((), 2, 0)
    assert "2 passages are not in English" in made.account.as_text()


def test_the_bar_hears_how_far_it_is() -> None:
    told: list[tuple[str, int, int]] = []
    synthesise(handbook(), 20, on_progress=lambda *step: told.append(step))
    assert told[-1] == ("synthesise", 20, 20)


@pytest.mark.parametrize(("chunks", "size"), [([], 5), (handbook(1), 0)])
def test_nothing_to_make_is_an_error_with_a_hint(chunks: list[Chunk], size: int) -> None:
    with pytest.raises(LabError) as wrong:
        synthesise(chunks, size)
    assert wrong.value.hint


LINES = st.lists(
    st.sampled_from(
        [
            "Leave is 5 days per year.",
            "| a | b |",
            "| --- | --- |",
            "| Sick leave | 3 {days} |",
            "**Bold**: A thing that is.",
            "- [ ] item",
            "1. first",
            "See https://x.org",
            "A (AB) is a {curly} brace of words.",
            "",
            "Überstunden 残業 50%",
            "You must file it within 30 days.",
            "Employee Assistance Program (EAP)",
            "# ?",
            "What is it?",
            "\\|",
            "`code`",
        ]
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            LINES | st.lists(st.text(max_size=40), min_size=1, max_size=3), st.text(max_size=25)
        ),
        min_size=1,
    ),
    st.integers(1, 9),
    st.integers(0, 3),
)
def test_every_proposal_is_kept_or_fallen(
    rows: list[tuple[list[str], str]], size: int, seed: int
) -> None:
    chunks = [
        chunk("\n".join(lines), "Paid leave", heading, uri=f"{number % 3}.md", start=number)
        for number, (lines, heading) in enumerate(rows)
    ]
    made = synthesise(chunks, size, seed=seed)
    balanced(made)
    assert made.account.kept <= size
    for case in made.cases:
        assert any(
            case.evidence[0].quote in c.text for c in chunks if c.uri == case.evidence[0].document
        )
