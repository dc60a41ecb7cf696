"""What the graph knows around a term, drawn as SVG that stands alone: no scripts, no links, no
fonts from elsewhere.

The term stands in the middle. Cards on its left speak of it (it is their object), cards on its
right say what it must, may or is (it is their subject); what stands around those stands further
out. Cards of a column are stacked, so that nothing overlaps however long the words are. Light and
dark follow the reader's system."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import NamedTuple

from ombud.charts import IN_BOXES, StyledWord, WrappedLine, shortened, text_width, wrapped
from ombud.graph.neighbourhood import Neighbourhood
from ombud.store import Edge
from ombud.text import name_words as plain_words

WIDTH, GAP, APART, MARGIN, PAD, BETWEEN = 268.0, 84.0, 14.0, 24.0, 11.0, 4.0
"""Pixels: of a card, between columns, between cards, around everything, inside a card, between its
statements."""
MOST_CARDS, MOST_SAID, MOST_LINES = 40, 5, 4
"""Cards; statements of a card; lines of a statement."""
LONG = 9
"""Cards of a column beside the term from which it counts as long."""
HEAD, SAID, SOURCE, TITLE = (13.5, 18.0), (12.5, 16.5), (10.5, 14.0), (19.0, 24.0)
"""Size of the letters and height of a line."""
_REQUIRED = re.compile(
    r"\b(?:must|shall|(?<!not )ha(?:s|ve) to|(?<!not )needs?|requires?d?|should|responsible)\b"
)
_KINDS = (
    (
        "no",
        "prohibited",
        re.compile(
            r"\b(?:(?:must|may|shall|can|should|only) not|not (?:allowed|permitted|eligible|entitled)"
            r"|cannot|never|prohibit\w*|forbidden|unlawful)\b"
        ),
    ),
    ("must", "required", _REQUIRED),
    (
        "may",
        "allowed",
        re.compile(r"\b(?:may|can|allowed|permitted|entitled?s?|eligible|not (?:have|need) to)\b"),
    ),
    (
        "is",
        "defined",
        re.compile(
            r"\b(?:means?|is short for|is defined|refers? to|is about|includes?|stands for)\b"
        ),
    ),
    ("other", "stated", re.compile("")),
)
"""Class, its word in the legend, and the predicates that are of it; the first that fits counts."""


class TextBlock(NamedTuple):
    """Lines that belong together."""

    kind: str
    """Of a statement; empty for what is none."""
    lines: list[WrappedLine]
    size: tuple[float, float]
    said: str
    """The whole text, where it had to be cut."""


@dataclass
class Card:
    key: str
    column: int
    """0 is the term, negative left of it."""
    parent: str
    incoming: bool
    """Whether the entity speaks of its parent, and not the other way round."""
    said: list[Edge] = field(default_factory=list)
    blocks: list[TextBlock] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0
    height: float = 0.0


def draw_graph(term: str, found: Neighbourhood) -> str:
    """The SVG. Beyond 40 entities the farthest are left out, and a line below says how many
    statements that is."""
    cards, drawn = _placed(found)
    for card in cards:
        _write(card, found, term)
    columns = {
        number: [card for card in cards if card.column == number]
        for number in {c.column for c in cards} | {0}
    }
    centre = _about(term, found)
    tall = max([_tall(centre) + 30, *(_height(column) for column in columns.values())])
    top = MARGIN + 46
    for number, column in columns.items():
        _stack(column, MARGIN + (number - min(columns)) * (WIDTH + GAP), top, tall, cards)
    width = MARGIN * 2 + len(columns) * WIDTH + (len(columns) - 1) * GAP
    middle = (MARGIN + (0 - min(columns)) * (WIDTH + GAP), top + tall / 2)
    missing = len(found.edges) - drawn + found.left_out
    body = [
        *_legend(cards),
        *_links(cards, middle, _tall(centre) / 2),
        *_centre(centre, middle),
        *(line for card in cards for line in _card(card)),
    ]
    if missing:
        body.append(
            _text(
                MARGIN,
                top + tall + 26,
                f"{missing} more statements are not drawn.",
                "quiet",
                SOURCE[0] + 1,
            )
        )
    return _framed(term, found, width, top + tall + MARGIN + (20 if missing else 0), body)


def _placed(found: Neighbourhood) -> tuple[list[Card], int]:
    """Cards by nearness, and how many statements they hold."""
    cards: dict[str, Card] = {}
    column = dict.fromkeys(found.keys, 0)
    drawn, waiting = 0, list(found.edges)
    while waiting:
        later = []
        for edge in waiting:
            keys = (edge.subject_key, edge.object_key)
            known = [key for key in keys if key in column]
            if not known:
                later.append(edge)
                continue
            drawn += _take(edge, keys, cards, column)
        if len(later) == len(waiting):
            break
        waiting = later
    return list(cards.values()), drawn


def _take(
    edge: Edge, keys: tuple[str, str], cards: dict[str, Card], column: dict[str, int]
) -> bool:
    """Put a statement onto the card of its farther entity, which is made where it is new. Between
    two names of the term it stands with the term."""
    if not any(column.get(key, 1) for key in keys):
        return True
    far = max(keys, key=lambda key: abs(column.get(key, 99)))
    near = keys[0] if far == keys[1] else keys[1]
    if far not in column:
        if len(cards) >= MOST_CARDS:
            return False
        incoming = edge.subject_key == far
        column[far] = (
            column[near] + (1 if column[near] > 0 else -1)
            if column[near]
            else _side(incoming, cards)
        )
        cards[far] = Card(far, column[far], near, incoming)
    cards[far].said.append(edge)
    return True


def _side(incoming: bool, cards: Mapping[str, Card]) -> int:
    """Left of the term what speaks of it, right what it says; a long column goes on at the shorter
    one."""
    held = {side: sum(card.column == side for card in cards.values()) for side in (-1, 1)}
    side = -1 if incoming else 1
    return -side if held[side] >= LONG and held[-side] < held[side] else side


def _different(edges: Iterable[Edge]) -> list[Edge]:
    """Without what another document says in the same words."""
    seen: dict[str, Edge] = {}
    for edge in edges:
        one = edge.triplet
        seen.setdefault(" ".join(plain_words(f"{one.subject} {one.predicate} {one.object}")), edge)
    return list(seen.values())


def _write(card: Card, found: Neighbourhood, term: str) -> None:
    """Wrap what a card says: the subject as its head where it speaks of its parent, then each
    statement."""
    room = WIDTH - 2 * PAD - 8
    if card.incoming:
        subject = card.said[0].triplet.subject
        card.blocks.append(
            TextBlock("", wrapped(_words(subject, "head"), room, HEAD[0], 2), HEAD, subject)
        )
    different = _different(card.said)
    for edge in different[:MOST_SAID]:
        one = edge.triplet
        # A subject that is neither the card's head nor what it hangs on has to be named.
        named = edge.subject_key != (card.key if card.incoming else card.parent)
        if not card.incoming and card.parent in found.keys:
            named = list(plain_words(one.subject)) != list(plain_words(term))
        words = _words(one.subject, "subject") if named else []
        words += [*_words(one.predicate, "does"), *_words(one.object, "object")]
        whole = f"{one.subject} {one.predicate} {one.object}"
        card.blocks.append(
            TextBlock(_kind(one.predicate), wrapped(words, room, SAID[0], MOST_LINES), SAID, whole)
        )
    notes = [f"and {len(different) - MOST_SAID} more"] if len(different) > MOST_SAID else []
    notes += _sources(card, found)
    card.blocks += [TextBlock("", [[StyledWord(note, "quiet")]], SOURCE, note) for note in notes]
    card.height = (
        2 * PAD + sum(len(block.lines) * block.size[1] + BETWEEN for block in card.blocks) - BETWEEN
    )


def _words(text: str, style: str) -> list[StyledWord]:
    return [StyledWord(word, style) for word in text.split()]


def _sources(card: Card, found: Neighbourhood) -> Iterator[str]:
    """One line: the first document, its page, and how many others there are."""
    places = []
    for edge in card.said:
        chunk = found.chunks.get(edge.triplet.chunk_id)
        if chunk:
            places.append(
                (chunk.title or chunk.uri) + (f", p. {chunk.page_from}" if chunk.page_from else "")
            )
    different = list(dict.fromkeys(places))
    if different:
        more = f" +{len(different) - 1}" if len(different) > 1 else ""
        yield (
            shortened(
                different[0],
                WIDTH - 2 * PAD - 8 - text_width(more, SOURCE[0], IN_BOXES),
                SOURCE[0],
                IN_BOXES,
            )
            + more
        )


def _stack(
    column: Sequence[Card], x: float, top: float, tall: float, cards: Sequence[Card]
) -> None:
    """Cards one below the other, children in the order of their parents, the whole column
    centred."""
    order = {card.key: place for place, card in enumerate(cards)}
    column = sorted(column, key=lambda card: (order.get(card.parent, -1), order[card.key]))
    y = top + (tall - _height(column)) / 2
    for card in column:
        card.x, card.y = x, y
        y += card.height + APART


def _height(column: Iterable[Card]) -> float:
    heights = [card.height for card in column]
    return sum(heights) + APART * max(0, len(heights) - 1)


def _kind(predicate: str) -> str:
    return next(name for name, _, pattern in _KINDS if pattern.search(predicate))


# Marks --------------------------------------------------------------------------------------------


def _card(card: Card) -> Iterator[str]:
    yield f'<g><rect class="card" x="{card.x:.1f}" y="{card.y:.1f}" width="{WIDTH}" height="{card.height:.1f}" rx="9"/>'
    y = card.y + PAD
    for block in card.blocks:
        size, step = block.size
        yield f"<g><title>{escape(block.said)}</title>"
        if block.kind:
            tall, x = len(block.lines) * step - 2, card.x + PAD
            yield f'<rect class="{block.kind}" x="{x:.1f}" y="{y + 1:.1f}" width="3" height="{tall:.1f}" rx="1.5"/>'
        left = card.x + PAD + (9 if block.kind else 0)
        for number, line in enumerate(block.lines):
            yield _text(left, y + step * (number + 0.76), _spans(line, block.kind), "", size)
        yield "</g>"
        y += len(block.lines) * step + BETWEEN
    yield "</g>"


def _spans(line: WrappedLine, kind: str) -> str:
    """Escaped words, each run of one style a tspan."""
    runs: list[list[str]] = []
    for word in line:
        if runs and runs[-1][0] == word.style:
            runs[-1][1] += " " + word.text
        else:
            runs.append([word.style, word.text])
    classes = {style: f"does t-{kind}" if style == "does" and kind else style for style, _ in runs}
    return " ".join(
        f'<tspan class="{classes[style]}">{escape(text)}</tspan>' for style, text in runs
    )


def _text(x: float, y: float, inner: str, style: str, size: float, anchor: str = "start") -> str:
    named = f' class="{style}"' if style else ""
    return f'<text{named} x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}">{inner}</text>'


def _about(term: str, found: Neighbourhood) -> list[TextBlock]:
    """The term, and what it is short for."""
    room = WIDTH - 2 * PAD
    between = [
        edge for edge in found.edges if {edge.subject_key, edge.object_key} <= set(found.keys)
    ]
    blocks = [TextBlock("", wrapped(_words(term, "on-term"), room, TITLE[0], 3), TITLE, term)]
    objects = {
        " ".join(plain_words(edge.triplet.object)): edge.triplet for edge in reversed(between)
    }
    for one in list(objects.values())[:2]:
        said = f"{one.predicate} {one.object}"
        blocks.append(TextBlock("", wrapped(_words(said, "on-term"), room, SAID[0], 2), SAID, said))
    return blocks


def _tall(blocks: Sequence[TextBlock]) -> float:
    return sum(len(block.lines) * block.size[1] for block in blocks) + 28


def _centre(blocks: Sequence[TextBlock], middle: tuple[float, float]) -> Iterator[str]:
    x, tall = middle[0], _tall(blocks)
    y = middle[1] - tall / 2
    yield f'<rect class="term" x="{x:.1f}" y="{y:.1f}" width="{WIDTH}" height="{tall:.1f}" rx="14"/>'
    y += 14
    for block in blocks:
        for line in block.lines:
            words_said = escape(" ".join(word.text for word in line))
            yield _text(
                x + WIDTH / 2,
                y + 0.76 * block.size[1],
                words_said,
                "on-term",
                block.size[0],
                "middle",
            )
            y += block.size[1]


def _links(cards: Sequence[Card], middle: tuple[float, float], half: float) -> Iterator[str]:
    """A curve from each card to its parent; its arrow points at what the statement is about."""
    by_key = {card.key: card for card in cards}
    for card in cards:
        parent = by_key.get(card.parent)
        near = (parent.x, parent.y + parent.height / 2) if parent else middle
        right = card.column > 0
        start = (near[0] + WIDTH, near[1]) if right else near
        end = (
            (card.x, card.y + card.height / 2)
            if right
            else (card.x + WIDTH, card.y + card.height / 2)
        )
        if not parent:
            # Not all into one point: the curves spread over the side of the term.
            share = (end[1] - middle[1]) / max(1.0, abs(end[1] - middle[1]) + 160)
            start = (start[0], middle[1] + share * half * 0.8)
        bend = (start[0] + end[0]) / 2
        kind = _kind(card.said[0].triplet.predicate)
        way = f"M{start[0]:.1f} {start[1]:.1f}C{bend:.1f} {start[1]:.1f} {bend:.1f} {end[1]:.1f} "
        way += f"{end[0]:.1f} {end[1]:.1f}"
        yield f'<path class="link l-{kind}" d="{way}"/>'
        yield _arrow(start if card.incoming else end, right == card.incoming, kind)


def _arrow(tip: tuple[float, float], leftward: bool, kind: str) -> str:
    x, y = tip
    back = 8 if leftward else -8
    return (
        f'<path class="{kind}" d="M{x:.1f} {y:.1f}L{x + back:.1f} {y - 4.5:.1f}V{y + 4.5:.1f}Z"/>'
    )


def _legend(cards: Sequence[Card]) -> Iterator[str]:
    used = {_kind(edge.triplet.predicate) for card in cards for edge in card.said}
    x = MARGIN
    for name, said, _ in _KINDS:
        if name in used:
            yield f'<rect class="{name}" x="{x:.1f}" y="{MARGIN:.1f}" width="12" height="12" rx="3"/>'
            yield _text(x + 18, MARGIN + 10.5, said, "quiet", SOURCE[0] + 1.5)
            x += 18 + text_width(said, SOURCE[0] + 1.5, IN_BOXES) + 20


def _framed(
    term: str, found: Neighbourhood, width: float, height: float, body: Sequence[str]
) -> str:
    said = [
        f"{e.triplet.subject} {e.triplet.predicate} {e.triplet.object}"
        for e in found.edges[:MOST_CARDS]
    ]
    title = f"What the documents say of {term}"
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="ombud-graph" role="img" {size} aria-label="{escape(title)}">'
    described = f"<title>{escape(title)}</title>\n<desc>{escape('. '.join(said))}</desc>"
    parts = [head, described, f"<style>{_style()}</style>"]
    ground = f'<rect class="ground" width="{width:.0f}" height="{height:.0f}"/>'
    return _NOT_XML.sub("", "\n".join([*parts, ground, *body, "</svg>"])) + "\n"


def _style() -> str:
    """Colours by day and by night; both keep 4.5 : 1 between words and their ground."""
    rules = [
        ".ombud-graph{font-family:Inter,ui-sans-serif,system-ui,'Segoe UI',Roboto,Helvetica,Arial,sans-serif}",
        ".head,.does{font-weight:600}.on-term{font-weight:650}.link{fill:none;stroke-width:1.4;stroke-opacity:.55}",
        _colours(_DAY),
        f"@media (prefers-color-scheme:dark){{{_colours(_NIGHT)}}}",
    ]
    return "".join(rules)


def _colours(palette: Mapping[str, str]) -> str:
    rules = [
        f".ombud-graph .ground{{fill:{palette['ground']}}}.ombud-graph text{{fill:{palette['ink']}}}",
        f".ombud-graph .card{{fill:{palette['card']};stroke:{palette['edge']}}}",
        f".ombud-graph .quiet{{fill:{palette['quiet']}}}",
        f".ombud-graph .term{{fill:{palette['term']}}}.ombud-graph .on-term{{fill:{palette['on']}}}",
    ]
    for name, _, _ in _KINDS:
        rules.append(f".ombud-graph .{name},.ombud-graph .t-{name}{{fill:{palette[name]}}}")
        rules.append(f".ombud-graph .l-{name}{{stroke:{palette[name]}}}")
    return "".join(rules)


_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DAY = {
    "ground": "#fbfaf7", "card": "#fff", "edge": "#e6e1d8", "ink": "#22252a", "quiet": "#656560", "term": "#0b5d57",
    "on": "#fff", "no": "#b3261e", "must": "#1f5fa8", "may": "#1d7a4c", "is": "#7d3a66", "other": "#5f6368",
}  # fmt: skip
_NIGHT = {
    "ground": "#181816", "card": "#242421", "edge": "#383732", "ink": "#eae7e1", "quiet": "#a8a59d", "term": "#6bcdc1",
    "on": "#08211e", "no": "#ff9a8f", "must": "#8fbef5", "may": "#7fd3a4", "is": "#e6a9cd", "other": "#b5b8bc",
}  # fmt: skip
