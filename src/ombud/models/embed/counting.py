"""Counting tokens, word by word where that is exact: chunkers and prompts ask for the same words
again and again."""

import re
from collections.abc import Callable

from tokenizers import Tokenizer
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
    """`text -> tokens`, special tokens left out.

    BERT's tokenizers cut at white space before anything else, so a text's tokens are those of its
    words; others may join words, or count the space before one, and are asked for whole texts."""
    added = tokenizer.get_added_tokens_decoder().values()
    apart = (
        isinstance(tokenizer.model, WordPiece)
        and isinstance(tokenizer.pre_tokenizer, BertPreTokenizer)
        and isinstance(tokenizer.normalizer, BertNormalizer)
        and tokenizer.normalizer.handle_chinese_chars
        and not any(token.normalized or set(token.content) & set(" \t\n") for token in added)
    )
    return (
        _Words(tokenizer)
        if apart
        else lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)
    )


class _Words:
    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._special = [token.content for token in tokenizer.get_added_tokens_decoder().values()]
        self._known = {"": 0}

    def __call__(self, text: str) -> int:
        # Only what the tokenizer takes for white space as well: it drops some of what `split()`
        # cuts at.
        words = text.replace("\n", " ").replace("\t", " ").split(" ")
        try:
            return sum(map(self._known.__getitem__, words))
        except KeyError:
            return self._learn(words)

    def _learn(self, words: list[str]) -> int:
        # Another thread may count, too: this one goes on with the table it began with.
        known = self._known if len(self._known) < MOST else {"": 0}
        parts = {word: self._parts(word) for word in dict.fromkeys(words) if word not in known}
        new = list(
            dict.fromkeys(part for some in parts.values() for part in some if part not in known)
        )
        found = self._tokenizer.encode_batch_fast(new, add_special_tokens=False)
        fresh = {part: len(encoding.ids) for part, encoding in zip(new, found, strict=True)}
        for word, some in parts.items():
            fresh[word] = sum(known[part] if part in known else fresh[part] for part in some)
        total = sum(known[word] if word in known else fresh[word] for word in words)
        known.update((word, tokens) for word, tokens in fresh.items() if len(word) <= LONGEST)
        self._known = known
        return total

    def _parts(self, word: str) -> list[str]:
        return [word] if any(token in word for token in self._special) else _PARTS.findall(word)
