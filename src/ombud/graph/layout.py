"""Where each entity around a term stands: on a card in a column, nothing over anything.

The term stands in the middle. Cards on its left speak of it (it is their object), cards on its
right say what it must, may or is (it is their subject); what stands around those stands further
out. Cards of a column are stacked, so that nothing overlaps however long the words are."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ombud.charts import IN_BOXES, StyledWord, WrappedLine, shortened, text_width, wrapped
from ombud.graph.neighbourhood import Neighbourhood
from ombud.graph.statement_kinds import kind_of
from ombud.store import Edge
from ombud.text import name_words
from ombud.types import Triplet

WIDTH = 268.0
PAD = 11.0
"""Pixels: of a card, inside it."""
ROOM = WIDTH - 2 * PAD - 8
"""Pixels of a line on a card."""
APART = 14.0
BETWEEN = 4.0
"""Pixels between cards, between the statements of a card."""
MOST_CARDS = 40
MOST_STATEMENTS = 5
"""Of a card."""
MOST_LINES = 4
"""Of a statement."""
LONG = 9
"""Cards of a column beside the term from which it counts as long."""


class Lettering(NamedTuple):
    size: float
    """Of the letters, in pixels."""
    line: float
    """Height of a line, in pixels."""


HEAD = Lettering(13.5, 18.0)
STATEMENT = Lettering(12.5, 16.5)
SOURCE = Lettering(10.5, 14.0)
TITLE = Lettering(19.0, 24.0)


class TextBlock(NamedTuple):
    """Lines that belong together."""

    lines: list[WrappedLine]
    lettering: Lettering
    text: str
    """The whole of it, where it had to be cut."""
    kind: str = ""
    """Of a statement; empty for what is none."""

    @property
    def height(self) -> float:
        return len(self.lines) * self.lettering.line


@dataclass
class Card:
    key: str
    column: int
    """0 is the term, negative left of it."""
    parent: str
    incoming: bool
    """Whether the entity speaks of its parent, and not the other way round."""
    edges: list[Edge] = field(default_factory=list)
    blocks: list[TextBlock] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0
    height: float = 0.0

    @property
    def kind(self) -> str:
        """Of its first statement."""
        return kind_of(self.edges[0].triplet.predicate)


class Placing:
    """Entities on cards by nearness, each statement on the card of its farther end."""

    def __init__(self, around: Neighbourhood) -> None:
        self.cards: dict[str, Card] = {}
        self.placed = 0
        """Statements that stand on a card, or with the term."""
        self._columns = dict.fromkeys(around.keys, 0)
        waiting = list(around.edges)
        while waiting:
            later = [edge for edge in waiting if not self._place(edge)]
            if len(later) == len(waiting):
                break
            waiting = later

    def _place(self, edge: Edge) -> bool:
        """False where neither end is placed yet."""
        keys = (edge.subject_key, edge.object_key)
        columns = list(map(self._columns.get, keys))
        if columns == [None, None]:
            return False
        if columns == [0, 0]:
            self.placed += 1  # between two names of the term it stands with the term
            return True
        far = max(keys, key=lambda key: abs(self._columns.get(key, 99)))
        near = keys[0] if far == keys[1] else keys[1]
        if far not in self._columns:
            if len(self.cards) >= MOST_CARDS:
                return True
            self._add_card(far, near, incoming=edge.subject_key == far)
        self.cards[far].edges.append(edge)
        self.placed += 1
        return True

    def _add_card(self, key: str, parent: str, *, incoming: bool) -> None:
        column = self._columns[parent]
        if column == 0:
            column = self._side(incoming)
        else:
            column += 1 if column > 0 else -1
        self._columns[key] = column
        self.cards[key] = Card(key, column, parent, incoming)

    def _side(self, incoming: bool) -> int:
        """Left of the term what speaks of it, right what it says; a long column goes on at the
        shorter one."""
        columns = [card.column for card in self.cards.values()]
        side = -1 if incoming else 1
        here = columns.count(side)
        opposite = columns.count(-side)
        return -side if here >= LONG and opposite < here else side


def write_card(card: Card, around: Neighbourhood, term: str) -> None:
    """Wrap what a card says: the subject as its head where it speaks of its parent, then each
    statement."""
    if card.incoming:
        card.blocks.append(_head(card))
    different = _different(card.edges)
    for edge in different[:MOST_STATEMENTS]:
        card.blocks.append(_statement(card, edge, around, term))
    left_out = len(different) - MOST_STATEMENTS
    if left_out > 0:
        card.blocks.append(_note(f"and {left_out} more"))
    card.blocks += map(_note, _sources(card, around))
    heights = [block.height + BETWEEN for block in card.blocks]
    card.height = 2 * PAD + sum(heights) - BETWEEN


def _head(card: Card) -> TextBlock:
    subject = card.edges[0].triplet.subject
    lines = wrapped(styled_words(subject, "head"), ROOM, HEAD.size, 2)
    return TextBlock(lines, HEAD, subject)


def _statement(card: Card, edge: Edge, around: Neighbourhood, term: str) -> TextBlock:
    words = _statement_words(card, edge, around, term)
    lines = wrapped(words, ROOM, STATEMENT.size, MOST_LINES)
    kind = kind_of(edge.triplet.predicate)
    return TextBlock(lines, STATEMENT, sentence(edge.triplet), kind)


def _note(text: str) -> TextBlock:
    return TextBlock([[StyledWord(text, "quiet")]], SOURCE, text)


def _statement_words(card: Card, edge: Edge, around: Neighbourhood, term: str) -> list[StyledWord]:
    triplet = edge.triplet
    # A subject that is neither the card's head nor what it hangs on has to be named.
    is_named = edge.subject_key != (card.key if card.incoming else card.parent)
    if not card.incoming and card.parent in around.keys:
        is_named = list(name_words(triplet.subject)) != list(name_words(term))
    words = styled_words(triplet.subject, "subject") if is_named else []
    words += styled_words(triplet.predicate, "does")
    words += styled_words(triplet.object, "object")
    return words


def stack(
    cards: Sequence[Card], x: float, top: float, height: float, order: Mapping[str, int]
) -> None:
    """Cards of a column one below the other, children in the order of their parents, the whole
    column centred in `height`. order: key of a card -> its place among all."""
    y = top + (height - column_height(cards)) / 2
    for card in sorted(cards, key=lambda card: (order.get(card.parent, -1), order[card.key])):
        card.x = x
        card.y = y
        y += card.height + APART


def column_height(cards: Iterable[Card]) -> float:
    heights = [card.height for card in cards]
    return sum(heights) + APART * max(0, len(heights) - 1)


def styled_words(text: str, style: str) -> list[StyledWord]:
    return [StyledWord(word, style) for word in text.split()]


def sentence(triplet: Triplet) -> str:
    return f"{triplet.subject} {triplet.predicate} {triplet.object}"


def _different(edges: Iterable[Edge]) -> list[Edge]:
    """Without what another document says in the same words."""
    by_words: dict[str, Edge] = {}
    for edge in edges:
        words = " ".join(name_words(sentence(edge.triplet)))
        by_words.setdefault(words, edge)
    return list(by_words.values())


def _sources(card: Card, around: Neighbourhood) -> Iterator[str]:
    """One line: the first document, its page, and how many others there are."""
    places: dict[str, None] = {}
    for edge in card.edges:
        chunk = around.chunks.get(edge.triplet.chunk_id)
        if not chunk:
            continue
        page = f", p. {chunk.page_from}" if chunk.page_from else ""
        places[(chunk.title or chunk.uri) + page] = None
    if not places:
        return
    others = len(places) - 1
    more = f" +{others}" if others else ""
    room = ROOM - text_width(more, SOURCE.size, IN_BOXES)
    yield shortened(next(iter(places)), room, SOURCE.size, IN_BOXES) + more
