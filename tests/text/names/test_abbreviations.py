"""Abbreviations that a text explains, and brackets that explain nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ombud.text.names.abbreviations import find_abbreviations


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("The Annual Cash Bonus (ACB) is paid in June.", [("ACB", "Annual Cash Bonus")]),
        ("The ACB (Annual Cash Bonus) is paid in June.", [("ACB", "Annual Cash Bonus")]),
        ("OYC (the One-Year Check)", [("OYC", "One-Year Check")]),
        ("Ask for a **Time to Travel Permit** (**TTP**).", [("TTP", "Time to Travel Permit")]),
        (
            "the Technology Transformation Services (TTS)",
            [("TTS", "Technology Transformation Services")],
        ),
        ("Office of Personnel Management (OPM)", [("OPM", "Office of Personnel Management")]),
        ("out of office (OOO)", [("OOO", "out of office")]),
        ("research and development (R&D)", [("R&D", "research and development")]),
        ("Tell your HR Business Partner (HRBP).", [("HRBP", "HR Business Partner")]),
        ("Family and Medical Leave Act (FMLA)", [("FMLA", "Family and Medical Leave Act")]),
        (
            "the works council, comité social et économique (CSE)",
            [("CSE", "comité social et économique")],
        ),
        (
            "eine Arbeitsunfähigkeitsbescheinigung (AU)",
            [("AU", "Arbeitsunfähigkeitsbescheinigung")],
        ),
        (
            "Betriebliches Eingliederungsmanagement (BEM)",
            [("BEM", "Betriebliches Eingliederungsmanagement")],
        ),
        ('the Consumer Bureau ("CB")', [("CB", "Consumer Bureau")]),
        ("SSP (Statutory Sick Pay, GB)", [("SSP", "Statutory Sick Pay")]),
        ("Leave of Absence (LoA)", [("LoA", "Leave of Absence")]),
        # The example of the paper: the first letter begins a word, the others may stand inside.
        ("heat shock transcription factor (HSF)", [("HSF", "heat shock transcription factor")]),
        (
            "Paid time off (PTO) and display screen equipment (DSE); paid time off (PTO) again",
            [
                ("PTO", "Paid time off"),
                ("DSE", "display screen equipment"),
                ("PTO", "paid time off"),
            ],
        ),
    ],
)
def test_definitions_are_found(text: str, pairs: list[tuple[str, str]]) -> None:
    assert find_abbreviations(text) == pairs


@pytest.mark.parametrize(
    "text",
    [
        "Parental leave (US)",
        "Your manager (HR) decides.",
        "You may ask the EAP (Harbour).",
        "Ask HR (hr-us@larkmere.example).",
        "CSE (works council)",
        "our payroll (ADP)",
        "The limit (EUR) is 50.",
        "see the table (I) and part two (II)",
        "The first reason (a) and the second (b)",
        "Send the form (see above).",
        "The cap is 160 (EUR 220 in London).",
        "He said (OK) and left (NB).",
        "Give first aid. Then call. American Immigrant Desk (AID)",
        "",
    ],
)
def test_brackets_that_explain_nothing(text: str) -> None:
    assert find_abbreviations(text) == []


def test_a_definition_does_not_cross_a_sentence_or_a_cell() -> None:
    assert find_abbreviations("We pay cash. Bonus (CB)") == []
    assert find_abbreviations("| Annual cash | Bonus (ACB) |") == []


@given(st.text(alphabet="ABab (). &-12\n|", max_size=80))
def test_no_text_is_an_error(text: str) -> None:
    assert all(short and len(long) > len(short) for short, long in find_abbreviations(text))
