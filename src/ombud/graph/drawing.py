"""What the graph knows around a term, drawn as SVG that stands alone: no scripts, no links, no
fonts from elsewhere. Light and dark follow the reader's system."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby

from ombud.charts import IN_BOXES, WrappedLine, svg, text_width, wrapped
from ombud.graph.layout import (
    BETWEEN,
    MOST_CARDS,
    PAD,
    STATEMENT,
    TITLE,
    WIDTH,
    Card,
    Placing,
    TextBlock,
    column_height,
    sentence,
    stack,
    styled_words,
    write_card,
)
from ombud.graph.neighbourhood import Neighbourhood
from ombud.graph.statement_kinds import KINDS, kind_of, style_sheet
from ombud.text import name_words

GAP = 84.0
MARGIN = 24.0
"""Pixels: between columns, around everything."""
TOP = MARGIN + 46
"""Where the columns begin; the legend stands above."""
BASELINE = 0.76
"""Of a line, as a share of its height."""
LEGEND_SIZE = 12.0
NOTE_SIZE = 11.5


def draw_graph(term: str, around: Neighbourhood) -> str:
    """The SVG. Beyond 40 entities the farthest are left out, and a line below says how many
    statements that is."""
    placing = Placing(around)
    cards = list(placing.cards.values())
    for card in cards:
        write_card(card, around, term)
    columns = _columns(cards)
    centre = _Centre(_term_blocks(term, around))
    heights = list(map(column_height, columns.values()))
    height = max([centre.height + 30, *heights])
    _arrange(cards, columns, height)
    centre.x = _left(0, columns)
    centre.middle = TOP + height / 2
    body = [*_legend(cards), *_links(cards, centre), *centre.marks()]
    for card in cards:
        body += _card_marks(card)
    bottom = TOP + height
    missing = len(around.edges) - placing.placed + around.left_out
    if missing:
        body.append(_missing_note(missing, bottom + 26))
        bottom += 20
    width = _left(max(columns), columns) + WIDTH + MARGIN
    return _framed(term, around, (width, bottom + MARGIN), body)


def _columns(cards: Sequence[Card]) -> dict[int, list[Card]]:
    """Number of a column -> its cards; that of the term has none of its own."""
    columns: dict[int, list[Card]] = {0: []}
    for card in cards:
        columns.setdefault(card.column, []).append(card)
    return columns


def _left(number: int, columns: Collection[int]) -> float:
    """Pixels from the left of a column."""
    return MARGIN + (number - min(columns)) * (WIDTH + GAP)


def _arrange(cards: Sequence[Card], columns: Mapping[int, list[Card]], height: float) -> None:
    order = {card.key: place for place, card in enumerate(cards)}
    for number, column in columns.items():
        stack(column, _left(number, columns), TOP, height, order)


def _missing_note(missing: int, y: float) -> str:
    note = f"{missing} more statements are not drawn."
    style: svg.Attributes = {"class": "quiet", "font-size": NOTE_SIZE}
    return _text(MARGIN, y, note, style)


class _Centre:
    """The card of the term itself."""

    def __init__(self, blocks: Sequence[TextBlock]) -> None:
        self.blocks = blocks
        self.height = sum(block.height for block in blocks) + 28
        self.x = 0.0
        self.middle = 0.0
        """Pixels from above."""

    def side(self, is_right: bool, y: float) -> svg.Place:
        """Where a curve to that height begins: not all at one point, they spread over the side."""
        below = y - self.middle
        share = below / max(1.0, abs(below) + 160)
        x = self.x + WIDTH if is_right else self.x
        return x, self.middle + share * self.height * 0.4

    def marks(self) -> Iterator[str]:
        top = self.middle - self.height / 2
        yield _box("term", (self.x, top), (WIDTH, self.height), "14")
        y = top + 14
        middle = self.x + WIDTH / 2
        for block in self.blocks:
            size, line_height = block.lettering
            style: svg.Attributes = {
                "class": "on-term",
                "font-size": size,
                "text-anchor": "middle",
            }
            for line in block.lines:
                words = " ".join(word.text for word in line)
                yield _text(middle, y + BASELINE * line_height, words, style)
                y += line_height


def _term_blocks(term: str, around: Neighbourhood) -> list[TextBlock]:
    """The term, and what it is short for."""
    room = WIDTH - 2 * PAD
    words = styled_words(term, "on-term")
    blocks = [TextBlock(wrapped(words, room, TITLE.size, 3), TITLE, term)]
    for text in _other_names(around)[:2]:
        lines = wrapped(styled_words(text, "on-term"), room, STATEMENT.size, 2)
        blocks.append(TextBlock(lines, STATEMENT, text))
    return blocks


def _other_names(around: Neighbourhood) -> list[str]:
    """What statements between two names of the term say, each object once."""
    by_object: dict[str, str] = {}
    for edge in reversed(around.edges):
        if edge.subject_key in around.keys and edge.object_key in around.keys:
            triplet = edge.triplet
            words = " ".join(name_words(triplet.object))
            by_object[words] = f"{triplet.predicate} {triplet.object}"
    return list(by_object.values())


# Marks --------------------------------------------------------------------------------------------


def _card_marks(card: Card) -> list[str]:
    parts = [_box("card", (card.x, card.y), (WIDTH, card.height), "9")]
    y = card.y + PAD
    for block in card.blocks:
        parts.append(_block_marks(block, card.x + PAD, y))
        y += block.height + BETWEEN
    return [svg.element("g", {}, *parts)]


def _block_marks(block: TextBlock, x: float, y: float) -> str:
    parts = [svg.title(block.text)]
    if block.kind:
        size_of_bar = (3, block.height - 2)
        parts.append(_box(block.kind, (x, y + 1), size_of_bar, "1.5"))
        x += 9
    size, line_height = block.lettering
    for number, line in enumerate(block.lines):
        attributes: svg.Attributes = {
            "x": x,
            "y": y + line_height * (number + BASELINE),
            "font-size": size,
            "text-anchor": "start",
        }
        parts.append(svg.element("text", attributes, _spans(line, block.kind)))
    return svg.element("g", {}, *parts)


def _spans(line: WrappedLine, kind: str) -> str:
    """Escaped words, each run of one style a tspan."""
    spans: list[str] = []
    for style, words in groupby(line, key=lambda word: word.style):
        classes = f"does t-{kind}" if style == "does" and kind else style
        text = " ".join(word.text for word in words)
        spans.append(svg.element("tspan", {"class": classes}, svg.escaped(text)))
    return " ".join(spans)


def _text(x: float, y: float, words: str, style: svg.Attributes) -> str:
    attributes = {"x": x, "y": y, "text-anchor": "start", **style}
    return svg.element("text", attributes, svg.escaped(words))


def _box(name: str, place: svg.Place, size: tuple[float, float], radius: str) -> str:
    attributes: svg.Attributes = {
        "class": name,
        "x": place[0],
        "y": place[1],
        "width": size[0],
        "height": size[1],
        "rx": radius,
    }
    return svg.element("rect", attributes)


def _links(cards: Sequence[Card], centre: _Centre) -> Iterator[str]:
    """A curve from each card to its parent; its arrow points at what the statement is about."""
    by_key = {card.key: card for card in cards}
    for card in cards:
        is_right = card.column > 0
        end = _side(card, not is_right)
        parent = by_key.get(card.parent)
        start = _side(parent, is_right) if parent else centre.side(is_right, end[1])
        curve = svg.level_curve(start, end)
        yield svg.element("path", {"class": f"link l-{card.kind}", "d": curve})
        tip = start if card.incoming else end
        yield _arrow(tip, is_right == card.incoming, card.kind)


def _side(card: Card, is_right: bool) -> svg.Place:
    """The middle of one side of a card."""
    x = card.x + WIDTH if is_right else card.x
    return x, card.y + card.height / 2


def _arrow(tip: svg.Place, leftward: bool, kind: str) -> str:
    x, y = tip
    back = x + 8 if leftward else x - 8
    above = y - 4.5
    below = y + 4.5
    path = f"M{x:.1f} {y:.1f}L{back:.1f} {above:.1f}V{below:.1f}Z"
    return svg.element("path", {"class": kind, "d": path})


def _legend(cards: Sequence[Card]) -> Iterator[str]:
    used: set[str] = set()
    for card in cards:
        for edge in card.edges:
            used.add(kind_of(edge.triplet.predicate))
    x = MARGIN
    for kind in KINDS:
        if kind.name not in used:
            continue
        yield _box(kind.name, (x, MARGIN), (12, 12), "3")
        style: svg.Attributes = {"class": "quiet", "font-size": LEGEND_SIZE}
        yield _text(x + 18, MARGIN + 10.5, kind.legend, style)
        x += 18 + text_width(kind.legend, LEGEND_SIZE, IN_BOXES) + 20


def _framed(
    term: str, around: Neighbourhood, size: tuple[float, float], body: Sequence[str]
) -> str:
    width = round(size[0])
    height = round(size[1])
    title = f"What the documents say of {term}"
    statements = [sentence(edge.triplet) for edge in around.edges[:MOST_CARDS]]
    parts = [
        svg.title(title),
        svg.element("desc", {}, svg.escaped(". ".join(statements))),
        svg.element("style", {}, style_sheet()),
        svg.element("rect", {"class": "ground", "width": width, "height": height}),
        *body,
    ]
    attributes = {"class": "ombud-graph", "aria-label": title}
    return svg.document(attributes, width, height, parts) + "\n"
