"""Which questions a person should answer."""

from pathlib import Path

import pytest

from ombud.answer import read_sensitive
from ombud.answer.triage.sensitive import SensitiveTerms
from ombud.errors import BadSetting


@pytest.fixture(scope="module")
def shipped() -> SensitiveTerms:
    return read_sensitive()


@pytest.mark.parametrize(
    ("told", "topic", "danger"),
    [
        ("My boss keeps touching me and I don't know what to do", "harassment", False),
        ("I want to kill myself", "wellbeing", True),
        ("i don’t want to live anymore", "wellbeing", True),
        ("A colleague threatened to kill me in the car park", "health-safety", True),
        ("My partner beats me and I am scared to go home", "health-safety", True),
        ("I lost the baby last week, what leave do I get?", "family", False),
        ("I think my manager is faking the invoices", "whistleblowing", False),
        ("They keep making fun of my accent", "harassment", False),
        ("I am being bullied by the team", "harassment", False),
        ("I have cancer and need time for treatment", "wellbeing", False),
        ("I HAD A PANIC ATTACK AT WORK", "wellbeing", False),
    ],
)
def test_a_story_is_found(shipped: SensitiveTerms, told: str, topic: str, danger: bool) -> None:
    matter = shipped.find(told)
    assert matter is not None
    assert (matter.topic, matter.danger) == (topic, danger)


@pytest.mark.parametrize(
    "asked",
    [
        "",
        "How many days of sick leave do I get for the flu?",
        "Where is the whistleblowing policy document kept?",
        "How long is a grievance kept on file?",
        "Who do I tell that I am moving house?",
        "What is the hotel cap in London?",
        "Is the harassment training mandatory for my team?",
        "Can I bring my dog to the office?",
        "Can I take a knife block as a gift from a supplier?",
        "How do I grapple with the new expense tool?",
        "Does the policy apply to contractors who shoot photos for us?",
    ],
)
def test_an_ordinary_question_is_not(shipped: SensitiveTerms, asked: str) -> None:
    assert shipped.find(asked) is None


@pytest.mark.parametrize(
    "told",
    [
        "i dont want to wake up",
        "there is no reason to go on",
        "he waits outside for me every evening",
        "can you keep my address out of the system, im hiding from my husband",
        "Ich will nicht mehr leben.",
        "er hat mich geschlagen",
        "j'ai plus envie de me réveiller",
        "mon conjoint me frappe",
        "ya no quiero seguir viviendo",
        "mi novio me pega",
    ],
)
def test_danger_is_heard_in_plain_words_and_four_languages(
    shipped: SensitiveTerms, told: str
) -> None:
    matter = shipped.find(told)
    assert matter is not None
    assert matter.danger


def test_danger_comes_before_everything_else(shipped: SensitiveTerms) -> None:
    matter = shipped.find("I was bullied for months and now I want to die")
    assert matter is not None
    assert matter.name == "self-harm"


OWN = """
[[matter]]
name = "dismissal"
strong = ["Kündigung", "FIRED today", "won’t  be kept", "layoff*"]
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("kündigung?", True),
        ("i got fired\ntoday", True),
        ("you won't be kept", True),
        ("i fear layoffs", True),
        ("the relay", False),
    ],
)
def test_own_terms_are_read_in_any_case_and_with_any_apostrophe(
    tmp_path: Path, text: str, found: bool
) -> None:
    path = tmp_path / "terms.toml"
    path.write_text(OWN, encoding="utf-8")
    matter = read_sensitive(path).find(text)
    assert (matter is not None) is found
    assert matter is None or (matter.topic, matter.danger) == ("dismissal", False)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"matter = [\n", "cannot be read"),
        (b"own = []\n", "matter"),
        (b"[[matter]]\nname = 'x'\n", "strong"),
        (b"[[matter]]\nstrong = ['x']\n", "name"),
        (b"[[matter]]\nname = 'x'\nstrong = 'fired'\n", "list"),
        (b"[[matter]]\nname = 'x'\nstrong = [1]\n", "list"),
        (b"matter = ['x']\n", "terms.toml"),
        (b"matter = ['\xe9']\n", "cannot be read"),
    ],
)
def test_a_file_that_is_no_list_of_terms_is_named(
    tmp_path: Path, content: bytes, said: str
) -> None:
    path = tmp_path / "terms.toml"
    path.write_bytes(content)
    with pytest.raises(BadSetting, match=said) as wrong:
        read_sensitive(path)
    assert str(path) in str(wrong.value)
    assert wrong.value.hint


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match=r"none\.toml"):
        read_sensitive(tmp_path / "none.toml")
