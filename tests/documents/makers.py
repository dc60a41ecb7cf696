"""Documents made by hand or at random, and a tokenizer whose counts can be checked by hand."""

from hypothesis import strategies as st

from ombud.types import Block, Document


def words(text: str) -> int:
    """A tokenizer whose counts can be checked by hand."""
    return len(text.split())


def document(*blocks: Block, title: str = "Leave") -> Document:
    return Document(
        id="0123456789abcdef", source="s", uri="leave.md", title=title, blocks=blocks, digest="d",
        text="\n\n".join(b.text for b in blocks),
    )  # fmt: skip


def heading(text: str, level: int) -> Block:
    return Block(kind="heading", text=text, level=level)


def text(words: str, page: int | None = None) -> Block:
    return Block(kind="text", text=words, page=page)


def sentence(word: str, length: int) -> str:
    return " ".join([word.capitalize(), *[word] * (length - 2), word + "."])


KINDS = st.sampled_from(["text", "list", "table", "code", "heading"])
SPACED = "ab .|-\u0301é"
"""Letters and signs of scripts that put blanks between words."""


def some_lines(letters: str) -> st.SearchStrategy[list[str]]:
    line = st.text(letters, min_size=1, max_size=60).filter(str.strip)
    return st.lists(line, min_size=1, max_size=12)


@st.composite
def documents(draw: st.DrawFn, letters: str = SPACED + "。") -> Document:
    blocks = []
    for kind in draw(st.lists(KINDS, max_size=12)):
        lines = [" ".join(line.split()) for line in draw(some_lines(letters))]
        joint = " " if kind in {"text", "heading"} else "\n"
        level = draw(st.integers(1, 4)) if kind == "heading" else 0
        blocks.append(
            Block.model_validate({"kind": kind, "text": joint.join(lines), "level": level})
        )
    return document(*blocks, title=draw(st.sampled_from(["", "Leave", "a b " * 40])))
