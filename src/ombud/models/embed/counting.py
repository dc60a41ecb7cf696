"""Counting tokens, word by word where that is exact: chunkers and prompts ask for the same words
again and again."""

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import chain

from tokenizers import AddedToken, Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

MOST = 100_000
"""Words remembered, before all are forgotten."""
LONGEST = 64
"""Characters of a word that is remembered; a longer one is a script without spaces or no text at
all."""

_PARTS = re.compile(r"[!-/:-@\[-`{-~、。「」\u4e00-\u9fff]|[^!-/:-@\[-`{-~、。「」\u4e00-\u9fff]+")
"""Punctuation and ideographs, which are words of their own to BERT, and what is between them."""


def counter(tokenizer: Tokenizer) -> Callable[[str], int]:
    """Return a function that counts tokens without special ones. BERT's tokenizers split at white
    space, so words are counted and cached; other tokenizers are given whole texts."""
    if cuts_at_words(tokenizer):
        return _WordCounter(tokenizer)
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def cuts_at_words(tokenizer: Tokenizer) -> bool:
    """Tell whether the tokens of a text are those of its words."""
    normalizer = tokenizer.normalizer
    if not isinstance(tokenizer.model, WordPiece):
        return False
    if not isinstance(tokenizer.pre_tokenizer, BertPreTokenizer):
        return False
    if not isinstance(normalizer, BertNormalizer) or not normalizer.handle_chinese_chars:
        return False
    added = tokenizer.get_added_tokens_decoder().values()
    return not any(map(has_other_rules, added))


def has_other_rules(token: AddedToken) -> bool:
    return bool(token.normalized or set(token.content) & set(" \t\n"))


class _WordCounter:
    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._special = [token.content for token in tokenizer.get_added_tokens_decoder().values()]
        self._counts = {"": 0}

    def __call__(self, text: str) -> int:
        # Only what the tokenizer takes for white space as well: it drops some of what `split()`
        # cuts at.
        words = text.replace("\n", " ").replace("\t", " ").split(" ")
        try:
            return sum(map(self._counts.__getitem__, words))
        except KeyError:
            return self.count_new(words)

    def count_new(self, words: list[str]) -> int:
        """Count a text with words that are not cached."""
        # Another thread may count, too: this one goes on with the table it began with.
        counts = self._counts if len(self._counts) < MOST else {"": 0}
        parts_of: dict[str, list[str]] = {}
        for word in words:
            if word not in counts and word not in parts_of:
                parts_of[word] = self.parts(word)
        new_counts = self.counts_of_parts(parts_of.values(), counts)
        for word, parts in parts_of.items():
            new_counts[word] = sum(look_up(part, counts, new_counts) for part in parts)
        total = sum(look_up(word, counts, new_counts) for word in words)
        for word, tokens in new_counts.items():
            if len(word) <= LONGEST:
                counts[word] = tokens
        self._counts = counts
        return total

    def counts_of_parts(
        self, parts: Iterable[list[str]], counts: Mapping[str, int]
    ) -> dict[str, int]:
        """Count the uncached words in one call."""
        new_parts = [
            part for part in dict.fromkeys(chain.from_iterable(parts)) if part not in counts
        ]
        encodings = self._tokenizer.encode_batch_fast(new_parts, add_special_tokens=False)
        lengths = [len(encoding.ids) for encoding in encodings]
        return dict(zip(new_parts, lengths, strict=True))

    def parts(self, word: str) -> list[str]:
        if any(token in word for token in self._special):
            return [word]
        return _PARTS.findall(word)


def look_up(word: str, counts: Mapping[str, int], new_counts: Mapping[str, int]) -> int:
    return counts[word] if word in counts else new_counts[word]
