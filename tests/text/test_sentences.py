"""Sentence ends, against sentences written for the purpose and joined by single spaces."""

import pytest

from ombud.text.sentences import split_sentences

GOLD = {
    "en": [
        "Staff receive 27 days of leave a year, cf. Sec. 3.1 of the Leave Policy.",
        "Ask Dr. M. L. Young or Ms. Okafor at people@example.org.",
        "Claims under EUR 1,250.50 need no receipt, e.g. for taxis, parking, etc., within the U.S. "
        "office.",
        "Does the rule cover interns?",
        "Yes!",
        "It has applied since Feb. 1, 2023 at 9 a.m. in all offices.",
        "Harbour Ltd. pays 2.5% p.a. on late wages (approx. $40.00).",
        "1.2 Notice periods are set out in Annex C.",
        "The answer is no.",
        "See No. 7 and pp. 12-14 of the v3.1 manual...",
        "Section 9. Appeals",
    ],
    "de": [
        "Der Anspruch beträgt nach § 5 Abs. 2 Nr. 3 mindestens 28 Tage.",
        "Frau Dr. Kern ist ab dem 3. Juni zuständig.",
        "Dies gilt z. B. für Werkstudenten, Aushilfen usw. ohne Ausnahme.",
        "Gilt das auch in der Probezeit?",
        "Ja, i. d. R. schon.",
        "Die Zulage liegt bei ca. 1.400,00 Euro.",
    ],
    "fr": [
        "Le congé est de 26 jours, cf. art. L. 1234-5 du Code.",
        "M. Petit et Mme Roy décident ensemble.",
        "Est-ce valable pour les stagiaires ?",
        "Voir l'al. 3 de l'art. 8 ci-dessous.",
    ],
    "es": [
        "Hay 23 días de vacaciones, véase el art. 12 del convenio.",
        "El Sr. Vega responde en un mes.",
        "¿Se aplica a los becarios?",
        "Sí, aprox. desde enero.",
    ],
    "ja": ["休暇は年間二十日です。", "申請は上長に行います。", "例外はありますか？", "はい！"],
}


def cut(text: str, language: str = "en") -> list[str]:
    return [text[start:end] for start, end in split_sentences(text, language)]


@pytest.mark.parametrize("language", GOLD)
def test_gold_sentences(language: str) -> None:
    joint = "" if language == "ja" else " "
    assert cut(joint.join(GOLD[language]), language) == GOLD[language]


def test_each_item_and_row_is_a_span() -> None:
    listed = "You need:\n- a passport\n  - or an identity card. It must be valid."
    text = f"{listed}\n\n| Grade | Days |\n| --- | --- |\n| A. B | 3 |"
    assert cut(text) == [
        "You need:",
        "- a passport",
        "- or an identity card.",
        "It must be valid.",
        "| Grade | Days |",
        "| --- | --- |",
        "| A. B | 3 |",
    ]


def test_a_paragraph_wrapped_by_hand_is_not_cut_at_its_lines() -> None:
    assert cut("Leave must be asked for\nin writing. Then wait.") == [
        "Leave must be asked for\nin writing.",
        "Then wait.",
    ]


def test_an_enumerated_clause_opens_a_sentence() -> None:
    assert cut("The manager decides. (a) Ask early; (b) ask in writing.") == [
        "The manager decides.",
        "(a) Ask early; (b) ask in writing.",
    ]


def test_spans_are_in_order_and_hold_every_word() -> None:
    text = "  One.  Two?!\n\n\tThree   \n"
    spans = split_sentences(text)
    assert "".join(text[a:b] for a, b in spans) == "One.Two?!Three"
    assert spans == sorted(spans)


def test_nothing_has_no_sentences() -> None:
    assert split_sentences(" \n ") == []
