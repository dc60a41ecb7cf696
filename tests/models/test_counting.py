"""Tokens counted word by word are those of the whole text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer
from tokenizers.models import WordLevel, WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer, Metaspace

from ombud.models.embed import counting
from ombud.models.embed.counting import counter

VOCABULARY = [
    "[UNK]",
    "[CLS]",
    "leave",
    "lea",
    "##ve",
    "##s",
    "day",
    "a",
    "b",
    "##b",
    "e",
    ",",
    ".",
    "日",
    "[",
    "]",
]
ODD = " \t\n\r\x0b\x1c\x85\u00a0\u2009\u200b\u3000\ufeff\u0301éÉß.,日本[]abelv"


def bert() -> Tokenizer:
    made = Tokenizer(
        WordPiece({word: number for number, word in enumerate(VOCABULARY)}, unk_token="[UNK]")
    )
    made.normalizer, made.pre_tokenizer = BertNormalizer(), BertPreTokenizer()
    made.add_special_tokens([AddedToken("[CLS]", special=True, normalized=False)])
    return made


def whole(tokenizer: Tokenizer, text: str) -> int:
    return len(tokenizer.encode(text, add_special_tokens=False).ids)


@settings(max_examples=500, deadline=None)
@given(
    st.one_of(
        st.text(ODD, max_size=80),
        st.text(max_size=80),
        st.lists(st.sampled_from(VOCABULARY)).map(" ".join),
    )
)
def test_words_add_up(text: str) -> None:
    tokenizer = bert()
    count = counter(tokenizer)
    assert count(text) == whole(tokenizer, text) == count(text)


def test_a_tokenizer_that_joins_words_is_asked_for_whole_texts() -> None:
    tokenizer = Tokenizer(WordLevel({"[UNK]": 0, "▁a": 1}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Metaspace(split=False)
    assert counter(tokenizer)("a a a") == whole(tokenizer, "a a a") == 1
    spaced = bert()
    spaced.add_special_tokens([AddedToken("leave days", special=True, normalized=False)])
    assert counter(spaced)("leave days") == whole(spaced, "leave days") == 1
    joined = bert()
    joined.add_tokens(["a.b"])
    assert counter(joined)("A.B") == whole(joined, "A.B") == 1


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "MOST", 4)
    tokenizer = bert()
    count = counting._WordCounter(tokenizer)
    for number in range(20):
        text = f"leaves day{number} {'e' * 300} day"
        assert count(text) == whole(tokenizer, text)
        assert len(count._counts) <= 4 + 5
        assert not any(len(word) > counting.LONGEST for word in count._counts)
