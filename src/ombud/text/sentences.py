"""Where sentences end, by rules that know the abbreviations of policies and laws (en, de, fr, es;
CJK by 。！？).

Measured in a prototype against five segmenters on shuffled policy sentences: better than all of
them on each of the four languages, at several MB/s."""

import re
from collections.abc import Iterator


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


ABBREVIATIONS: dict[str, frozenset[str]] = {
    "en": _set(
        "cf sec art para paras no nos mr mrs ms dr prof inc ltd corp co vs v e.g i.e etc approx "
        "p.a a.m p.m jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur "
        "thurs fri sat sun fig figs pp p al ph.d u.s u.k c.f.r u.s.c rep mos hrs yrs min max incl "
        "excl st ch vol ed eds cl reg dept est ext gov rev sr jr app"
    ),
    "de": _set(
        "gem abs nr bzw usw z b d h u a i r ca dr prof vgl art lit p ziff fa co evtl ggf inkl "
        "zzgl exkl str st sog mind max s f ff jan feb aug sept okt nov dez bspw insb grds abschn "
        "anl tel hr fr mio mrd"
    ),
    "fr": _set(
        "cf art l r d m mm mme mlle env p pp ex al janv févr fév avr juil sept oct nov déc dr st "
        "ch chap n no nos réf tél vol"
    ),
    "es": _set(
        "art arts e.t disp sr sra sres dr dra rr hh aprox pág págs ss núm ee uu d dña p ej vol "
        "cap apdo"
    ),
}
"""Language -> words that carry a full stop inside a sentence, lower case, without that last
stop."""

_CLOSING = _set("etc usw p.m a.m")
"""Abbreviations that often end a sentence: they do so before a capital letter."""
_FIRMS = _set("inc ltd corp co p.a u.s u.k e.t")
"""Abbreviations before which names go on in capitals: they end a sentence only before a word that
opens one."""
_NUMBERED = _set("no nos art app sat sun mar max min ext est rep mon")
"""English abbreviations that are words too: they are meant only before a number."""
_PARTS = _set("section article clause chapter sec art part")
"""Words that open a numbered heading: "Section 5. Termination"."""
_LETTERED = _set("annex appendix schedule part class grade option anlage teil gruppe annexe anexo")
"""Words after which a single letter is a name, not an initial."""
_OPENERS = _set(
    "a all also an any as at before by each employees every for he however if in it its managers "
    "no please she some staff such that the their then there these they this those to unless we "
    "when where while who you your der die das dies diese dieser es sie wir ein eine le la les un "
    "une il elle el los las se"
)
_LINE = re.compile(r"[^\n]+")
_ITEM = re.compile(r"\s*(?:[-*•–·]|\|)")
_STOP = re.compile(
    r"(?<![.!?…])([.!?…]++)([\"'”»)\]]*+)\s++(?=[\"'“«(\[¿¡]?[\w§])"
    r"|(?<![。！？])([。！？]++)([」』）”]*+)\s*+(?=\S)"
)
"""Nothing is tried twice, so that a line of a million stops takes no longer than any other."""
_ENUMERATOR = re.compile(r"\(?\d+(?:\.\d+)*")
_LISTED = re.compile(r"\((?:[a-z]|[ivx]{1,4}|\d{1,2})\)\s")
_LOOKED_AHEAD = 24
"""Characters behind a stop."""
_LONGEST = 60
"""Characters looked back for the word before a stop; the whole sentence would make long ones
quadratic."""
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")


def split_sentences(text: str, language: str = "en") -> list[tuple[int, int]]:
    """Return the spans (start, end) of the sentences of `text`, without surrounding white space.

    A line break ends a span, so that list items and table rows stand alone. In a hand-wrapped
    paragraph a sentence goes on in the next line if that begins with a small letter."""
    code = language[:2].lower()
    spans: list[tuple[int, int]] = []
    for start, end in _lines(text):
        sentences = _split(text, start, end, code)
        spans.extend(sentences)
    return spans


def clauses_of(text: str) -> list[str]:
    """Return what stands between full stops, question marks and commas."""
    sentences = [text[start:end] for start, end in split_sentences(text, "en")]
    return [clause for sentence in sentences for clause in sentence.split(", ")]


def _lines(text: str) -> Iterator[tuple[int, int]]:
    pending: tuple[int, int] | None = None
    may_go_on = False
    for line in _LINE.finditer(text):
        start, end = line.span()
        if pending and may_go_on and goes_on(text, pending[1], start):
            pending = (pending[0], end)
            continue
        if pending:
            yield pending
        pending = (start, end)
        may_go_on = not _ITEM.match(text, start)
    if pending:
        yield pending


def goes_on(text: str, end: int, start: int) -> bool:
    if start - end != 1:
        return False
    last = text[end - 1]
    return text[start].islower() and last not in ".!?…:;|"


def _split(text: str, start: int, end: int, language: str) -> Iterator[tuple[int, int]]:
    begin = start
    is_row = text[start:end].lstrip().startswith("|")
    stops = () if is_row else _STOP.finditer(text, start, end)
    for stop in stops:
        is_latin = bool(stop.group(1))
        if is_latin and is_inside(begin, stop, text, language):
            continue
        sentence_end = stop.end(2) if is_latin else stop.end(4)
        yield from _trim(text, begin, sentence_end)
        begin = stop.end()
    yield from _trim(text, begin, end)


def is_inside(begin: int, stop: re.Match[str], text: str, language: str) -> bool:
    """Tell whether the stop belongs to an abbreviation, number or initial inside the sentence."""
    end = stop.end()
    following = text[end : end + _LOOKED_AHEAD]
    if first_character(following).islower() and not _LISTED.match(following):
        # After a quotation too: "Really?" she asked.
        return True
    if stop.group(1) != ".":
        return False
    looked_back = max(begin, stop.start() - _LONGEST)
    before = text[looked_back : stop.start()].split()
    # The last word without brackets, quotation marks and a French elision: "l'art. 5".
    word = before[-1].lstrip("(\"'“«[").replace("’", "'") if before else ""
    word = word.rpartition("'")[2].lower()
    after_abbreviation = goes_on_after(word, following, language)
    if after_abbreviation is not None:
        return after_abbreviation
    if _INITIALS.fullmatch(word):
        return not follows_letter_name(before)
    if _ENUMERATOR.fullmatch(word):
        return _enumerates(before, language)
    return False


def first_character(following: str) -> str:
    return following.lstrip("\"'“«([¿¡")[:1]


def follows_letter_name(before: list[str]) -> bool:
    """Tell whether a single letter is a name: "Annex B."."""
    return len(before) > 1 and before[-2].lower() in _LETTERED


def goes_on_after(word: str, following: str, language: str) -> bool | None:
    """Tell whether a sentence goes on after an abbreviation; None if `word` is none."""
    first = first_character(following)
    if language == "en" and word in _NUMBERED:
        return first.isdigit() or following.startswith("§")
    if word in _CLOSING:
        starts_anew = first.isupper() or _LISTED.match(following)
        return not starts_anew
    if word in _FIRMS:
        return not _opens(following)
    abbreviations = ABBREVIATIONS.get(language, ABBREVIATIONS["en"])
    is_abbreviation = word in abbreviations or word.rstrip(".") in abbreviations
    return True if is_abbreviation else None


def _enumerates(before: list[str], language: str) -> bool:
    """Tell whether the number at the end of `before` opens a clause or is a German ordinal."""
    if language == "de" or len(before) == 1:
        return True
    return len(before) == 2 and before[0].lower() in _PARTS


def _opens(following: str) -> bool:
    match = re.match(r"[\"'“«(\[¿¡]*(\w+)", following)
    if not match:
        return False
    word = match.group(1)
    return word[:1].isupper() and word.lower() in _OPENERS


def _trim(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if end > start:
        yield start, end
