"""Terms as people write them, found one message after the other."""

from hypothesis import given
from hypothesis import strategies as st

from ombud.text import TermSearch, plain_wording, term_pattern

TERMS = ["my ex", "harass*", "don't", "fired", "be fired", "c++", "in the dark*", "*"]
WORDS = st.sampled_from(
    ["my", "ex", "harassment", "harass", "don’t", "was", "fired", "be", "C++", "in the", "darkness"]
)


def test_terms_are_whole_words_in_any_space_and_any_apostrophe() -> None:
    search = TermSearch(["my ex", "harass*", "don't"])
    assert search.findall(plain_wording("My\n ex harassed me, I DON’T sleep")) == [
        "my\n ex",
        "harassed",
        "don't",
    ]
    assert search.search("my exam") is None
    assert search.search("tommy ex") is None


def test_no_terms_are_found_nowhere() -> None:
    assert TermSearch([]).search("anything") is None


@given(st.lists(st.lists(WORDS).map(" ".join), max_size=9), st.sets(st.sampled_from(TERMS)))
def test_the_first_messages_are_read_as_all_others(messages: list[str], terms: set[str]) -> None:
    listed = sorted(terms)
    search = TermSearch(listed)
    for message in map(plain_wording, messages):
        expected = term_pattern(listed)
        assert search.findall(message) == expected.findall(message)
        assert str(search.search(message)) == str(expected.search(message))
