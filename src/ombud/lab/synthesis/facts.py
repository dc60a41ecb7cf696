"""Questions from single facts: definitions and abbreviations, cells of tables, numbers in
sentences."""

import re
from collections.abc import Iterator, Sequence
from random import Random

from ombud.lab.synthesis.headings import parent_of
from ombud.lab.synthesis.pairs import PassageSection, QuestionAnswer, make_pair, safe
from ombud.lab.synthesis.phrasing import (
    bare,
    data,
    determined,
    is_subject,
    listed,
    plain,
    sentence_spans,
)
from ombud.lab.synthesis.quantities import ask_for_number
from ombud.lab.synthesis.vocabulary import CorpusVocabulary
from ombud.types import Chunk

_FACTS = re.compile(
    r"^\||\([A-Z]{2,6}s?\)|\b(?:means|refers to|is an?|is defined as)\s|[$£€]\d|\d+ ?%|"
    r"\b\d+ (?:\w+ )?(?:minute|hour|day|week|month|year)s?\b",
    re.MULTILINE,
)


def has_facts(chunk: Chunk) -> bool:
    """A cheap guess whether more than its heading can be asked about."""
    return bool(chunk.header or _FACTS.search(chunk.text))


# Definitions --------------------------------------------------------------------------------------

_MEANS = re.compile(
    r"^[\"“]?(?:the term\s+)?[\"“]?(?P<term>[\w][\w'’&/ -]{2,60}?)[\"”]?,?\s*(?:\([^()]*\))?\s+"
    r"(?:means|refers to|is defined as|are defined as|shall mean)\s+\w",
    re.IGNORECASE,
)
_IS_A = re.compile(
    r"^(?P<article>The |An? )?(?P<term>[\w'’&/ -]{2,50}?)(?: \([^()]*\))? is an? (?P<said>[\w-]+)\b.{25,}"
)
_COLON = re.compile(
    r"^(?P<term>[A-Z][\w'’&/ -]{2,40}?): (?:An? (?!\w+ (?:of|few)\b)|Any \w+ (?:that|who|which)|Those who|Someone who|"
    r"Anyone who|The (?:process|act|practice|ability|person|people|degree|number|amount|period|team) )"
)
_SHORT_FOR = re.compile(r"\((?P<short>[A-Z][A-Z&]{1,5})s?\)")


def definitions(
    chunk: Chunk, vocabulary: CorpusVocabulary, chance: Random
) -> Iterator[QuestionAnswer]:
    for start, end in sentence_spans(chunk.text):
        quote = chunk.text[start:end]
        if quote.startswith("|") or len(quote) > 700:
            continue
        said = plain(quote)
        found = _defined(said, vocabulary)
        if found:
            shape, term = found
            ask, terse = data()["definition"][shape], data()["definition"]["terse"][shape]
            yield make_pair(
                chunk, "definition", chance, ask, terse, quote=quote, answer=said, term=term
            )
        for short, spelt in _abbreviations(said):
            ask, terse = data()["definition"]["short"], data()["definition"]["terse"]["short"]
            yield make_pair(
                chunk, "definition", chance, ask, terse, quote=quote, answer=spelt, term=short
            )


def _defined(said: str, vocabulary: CorpusVocabulary) -> tuple[str, str] | None:
    for pattern in (_MEANS, _COLON, _IS_A):
        match = pattern.match(said)
        if not match:
            continue
        term = bare(match["term"])
        found = [word.lower() for word in term.split()]
        if (
            not term
            or found[0] in listed("verbs") - listed("nouns_too") | {"good", "great"}
            or len(found) > 5
            or not is_subject(term)
            or vocabulary.is_name(term)
        ):
            return None
        if set(found) & {
            "and",
            "or",
            "you",
            "your",
            "we",
            "our",
            "their",
            "his",
            "if",
            "when",
            "only",
            "to",
            "for",
        }:
            return None
        # A term explained by itself, or something that one does: "Working remotely means that …".
        if found[-1].endswith("ly") or (
            found[0].endswith("ing") and not match.groupdict().get("article")
        ):
            return None
        if pattern is _MEANS and term.lower() in said[match.end("term") :].lower():
            return None
        # "Your first day is a good time" defines nothing.
        if pattern is _IS_A:
            if match["said"].lower() in listed("vacuous"):
                return None
            article = match["article"] or ""
            return "named", article.lower() + vocabulary.lowered(term)
        return "plain", vocabulary.lowered(term)
    return None


def _abbreviations(said: str) -> Iterator[tuple[str, str]]:
    """(abbreviation, what it stands for) where the words before the bracket begin with its
    letters."""
    for match in _SHORT_FOR.finditer(said):
        letters = match["short"].replace("&", "")
        words = [*re.finditer(r"[^\W_]+", said[: match.start()])][-2 * len(letters) :]
        # The O of "memorandum of understanding (MOU)" is its "of"; that of "Office of Acquisition
        # (OA)" is not.
        for skip in (_LINKING, frozenset[str]()):
            counted = [word for word in words if word.group().lower() not in skip][-len(letters) :]
            if "".join(word.group()[0] for word in counted).upper() == letters:
                yield match["short"], said[counted[0].start() : match.start()].strip()
                break


_LINKING = frozenset({"of", "and", "the", "for", "to", "in", "on"})

# Tables -------------------------------------------------------------------------------------------

_RULE = re.compile(r"^\|(?:\s*:?-+:?\s*\|)+\s*$")
_HISTORY = re.compile(
    r"\b(?:version|revision|author|reviewer|approved by|changed by|changes)\b", re.IGNORECASE
)
_EMPTY = re.compile(r"^(?:n/?a|none|tbd|tbc|x|y|n|yes|no|✓|✔|✅|-+|\W*)$", re.IGNORECASE)
_DATED = re.compile(r"^(?:date|deadline|when|due date)s?$", re.IGNORECASE)


def cells_of(
    chunk: Chunk, sections: Sequence[PassageSection], vocabulary: CorpusVocabulary, chance: Random
) -> Iterator[QuestionAnswer]:
    lines = [line for line in chunk.text.split("\n") if line.lstrip().startswith("|")]
    head = [line for line in chunk.header.split("\n") if line.strip()]
    if not head and len(lines) > 2 and _RULE.match(lines[1].strip()):
        head, lines = lines[:2], lines[2:]
    columns = _split(head[0]) if head else []
    if len(columns) < 2 or _HISTORY.search(" ".join(columns)):
        return
    rows = [
        (line.strip(), _split(line))
        for line in lines
        if not _RULE.match(line.strip()) and line.strip() != head[0]
    ]
    names = [cells[0] for _, cells in rows]
    about = parent_of([*sections[-1].parents, sections[-1].heading], vocabulary) if sections else ""
    for line, cells in rows:
        if len(cells) != len(columns) or names.count(cells[0]) > 1 or len(line) > 900:
            continue
        for at in range(1, len(cells)):
            asked = _cell_question(columns, cells, at, about, vocabulary)
            if asked and not _EMPTY.match(cells[at]) and len(cells[at].split()) <= 40:
                ask, fields = asked
                terse = data()["table"]["terse"]
                yield make_pair(
                    chunk,
                    "table",
                    chance,
                    ask,
                    terse,
                    quote=line,
                    answer=plain(cells[at]),
                    **fields,
                )


def _split(line: str) -> list[str]:
    return [
        cell.strip()
        for cell in re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))
    ]


def _cell_question(
    columns: Sequence[str], cells: Sequence[str], at: int, about: str, vocabulary: CorpusVocabulary
) -> tuple[Sequence[str], dict[str, str]] | None:
    column, row, first = bare(columns[at]), bare(cells[0]), bare(columns[0])
    templates = data()["table"]
    if not _is_column(column) or columns.count(columns[at]) > 1 or vocabulary.is_name(cells[at]):
        return None
    column = vocabulary.common(column)
    many = bool(re.search(r"[^s]s$", column))
    fields = {
        "column": column,
        "row": _row_name(row, vocabulary),
        "first": vocabulary.common(first),
    }
    if re.fullmatch(r"#\w[\w-]+\w", cells[0]):
        return (
            (templates["channel"], {"column": column, "row": cells[0]})
            if column in templates["column"]
            else None
        )
    if (
        not row
        or cells[0][0] in "#@"
        or row.endswith("?")
        or len(row.split()) > 10
        or vocabulary.is_name(row)
        or re.search('["“”.]', cells[0])
    ):
        return None
    if _DATED.match(first):
        fields["row"] = row
        return (templates["date"], fields) if re.search(r"\d", row) else None
    if re.fullmatch(r"[\d\W]+[kKmM]?|\d[\w\s.,+-]*", row):
        return (templates["numbers" if many else "number"], fields) if _is_column(first) else None
    if (
        not is_subject(row)
        or re.search(r"\b(?:you|we|I|your)\b", row)
        or (at > 1 and column in templates["column"])
    ):
        return None
    asks = templates["column"].get(column) or templates["many" if many else "one"]
    if len(row.split()) == 1:
        # "What is the format for compliance?" could be asked of any table.
        if not about or row.lower() in about.lower():
            return None
        asks = [f"when it comes to {safe(about)}, {ask[0].lower()}{ask[1:]}" for ask in asks]
    return asks, fields


def _row_name(row: str, vocabulary: CorpusVocabulary) -> str:
    # A long name is a title or a clause: it can only be quoted.
    if len(row.split()) > 3:
        return f'"{row}"'
    role = re.search(
        r"(?:manager|officer|director|lead|team|owner|committee|department|group)$",
        row,
        re.IGNORECASE,
    )
    return determined(vocabulary.lowered(row)) if role else vocabulary.lowered(row)


def _is_column(column: str) -> bool:
    words = column.lower().split()
    if (
        not words
        or len(words) > 4
        or re.search(r"[\d?&]|\bby$", column)
        or words[-1] in {"with", "like", "for", "to"}
    ):
        return False
    if set(words) & {
        "name",
        "notes",
        "note",
        "comment",
        "comments",
        "your",
        "guidance",
        "link",
        "links",
        "id",
        "not",
        "how",
        "what",
        "where",
        "who",
        "to",
    }:
        return False
    return not set(words) & (listed("finite") | listed("pronouns")) and words[0] not in {
        "see",
        "more",
        "other",
        "helps",
    }


# Numbers ------------------------------------------------------------------------------------------


def numbers_of(
    chunk: Chunk, sections: Sequence[PassageSection], vocabulary: CorpusVocabulary, chance: Random
) -> Iterator[QuestionAnswer]:
    for start, end in sentence_spans(chunk.text):
        quote = chunk.text[start:end]
        if quote.startswith("|"):
            continue
        said = plain(quote)
        asked = (
            ask_for_number(said, vocabulary)
            if re.search(r"\d|\bt(?:wo|hree|en|welve)\b", said)
            else None
        )
        if not asked:
            continue
        about = ""
        if asked.vague:
            at = max(
                (at for at, section in enumerate(sections) if section.start <= start), default=-1
            )
            about = (
                parent_of([*sections[at].parents, sections[at].heading], vocabulary)
                if at >= 0
                else ""
            )
            if not about:
                continue
        question, terse = (safe(text) for text in asked.within(about))
        yield make_pair(
            chunk,
            "number",
            chance,
            [question] if question else [],
            [terse],
            quote=quote,
            answer=said,
        )
