"""Reading what people write, without a model: its questions, its asides, what a follow-up carries
over.

Conservative throughout: what is not surely two questions is one, and what is not surely an aside
stays."""

import re
import tomllib
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from ombud.retrieve.strategies.thesaurus import policy_words
from ombud.text import Phrases, analyse, named_countries
from ombud.types import Question

LEAST_TERMS = 2
"""Content words without which something that ends in a question mark is no question of its own."""
LONGEST = 300
"""Characters of a question that are looked at to tell that it is one."""
LEAST_SENTENCES = 2
"""In fewer, nothing is an aside."""
MOST_CARRIED = 24
"""Words carried over from an answer; of 6, 12, 20 and 40 on few dev cases 20 was the first that
more did not beat."""

_END = re.compile(
    r"(?<=[?!])[\"')\]]*\s+|(?<=[^\W\d_]{2}[.…])[\"')\]]*\s+|(?<=\d{2}[.…])\s+(?=[A-Z])"
    r"|(?<=[)%][.…])\s+|\s*\n\s*"
)
"""Where a sentence ends as people type: "8 p.m. today" and "5. floor" go on."""
_SHORTENED = re.compile(
    r"\b(?:approx|etc|e\.g|i\.e|vs|no|dept|mr|mrs|ms|dr|st|max|min|incl|excl|ca|usw|bzw|inkl|p\.m"
    r"|a\.m|pls|tel)[.…]$",
    re.IGNORECASE,
)
_WH = (
    r"(?:who|whom|whose|what|which|when|where|why|how|whats|what['’]s|whos|who['’]s|hows|how['’]s"
    r"|wheres|where['’]s"
    r"|whens|when['’]s)"
)
_AUXILIARY = (
    r"(?:do|does|did|is|are|am|was|were|can|could|may|might|must|should|shall|will|would|have|has"
    r"|don['’]?t|doesn['’]?t"
    r"|isn['’]?t|aren['’]?t|can['’]?t|won['’]?t|couldn['’]?t|shouldn['’]?t|wouldn['’]?t)"
)
_SUBJECT = (
    r"(?:i|we|you|they|he|she|it|my|our|your|their|his|her|the|a|an|this|that|these|those|there"
    r"|any|all|everyone|someone"
    r"|anybody|somebody|employees?|managers?|people|staff)"
)
_PREPOSITION = r"(?:(?:at|by|until|till|in|for|from|to|on|with|about|under|since|of) )?"
_OPENS = rf"{_PREPOSITION}(?:{_WH}\b|{_AUXILIARY} {_SUBJECT}\b)"
_FILLER = (
    r"(?:(?:so|and|but|or|ok|okay|n|also|then|now|well|hey|hi|hello|oh|plus|anyway|please|pls"
    r"|right)\b\W*)*"
)
_OPENED = re.compile(rf"(?:^|[\s:,.(]){_OPENS}.*", re.IGNORECASE | re.DOTALL)
_ASKS = re.compile(
    rf"^\W*{_FILLER}{_OPENS}"
    r"|\?\W*$|\b(?:tell me|let me know|explain|i(?: would|['’]d)? (?:like|want|need) to (?:know"
    r"|ask|understand)"
    r"|wondering|wanted to (?:know|ask)|(?:my|the|quick|one) question|what i(?:['’]d)? (?:want"
    r"|like)|any idea"
    r"|advise)\b",
    re.IGNORECASE,
)
_JOINT = re.compile(
    rf"(?P<comma>\s*[,;]\s*|\s+[–—-]\s+|\s+)(?:and|&|n|plus|as well as)\s+(?:also\s+)?(?={_OPENS})",
    re.IGNORECASE,
)
_WHOLE = re.compile(
    rf"\b{_AUXILIARY}\b|\b(?:is|are|has|have|pays?|counts?|appl(?:y|ies)|decides?|approves?"
    rf"|\w+s)\b",
    re.IGNORECASE,
)
_ELLIPTIC = re.compile(rf"^{_PREPOSITION}{_WH} \w+\W*$", re.IGNORECASE)
"""Behind a comma: "…, and in which languages?"."""
_SETTING = re.compile(r"^(?P<setting>[^?:]{4,90}):\s+(?=\S)")
_POINTS_BACK = re.compile(
    r"\b(?:it|its|that|this|those|these|they|them|their|then|same|one|ones|either|both|another"
    r"|else|so)\b",
    re.IGNORECASE,
)
_PLEASANTRY = re.compile(
    r"^\W*(?:"
    r"(?:hi|hey|hello|dear|good (?:morning|afternoon|evening|day)|morning|evening|greetings|hallo"
    r"|bonjour|hola|moin)"
    r"(?:\W+(?:there|all|team|everyone|folks|hr|bot|again|ombud|together|zusammen))*"
    r"|(?:many |a lot of |big )?(?:thanks|thank you|thx|ty|cheers|merci|danke|gracias)"
    r"(?:\W+(?:a lot|a million|so much|very much|in advance|again|for (?:your|the|any) \w+|all"
    r"|everyone|you|bye))*"
    r"|(?:best|kind|warm)? ?regards|best|bye|sorry(?: to (?:bother|disturb)(?: you)?(?: again)?"
    r"| for (?:the )?(?:long|silly|stupid)[^.?!]*)?"
    r"|(?:i )?hope (?:you(?:['’]re| are)|your|this)[^.?!]*|have a (?:nice|good|great) \w+"
    r"|quick question|two (?:quick )?(?:questions|things)|lol|haha|ok(?:ay)?|right"
    r")\W*$",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"^\W*(?:hi|hey|hello|dear|good (?:morning|afternoon|evening)|morning)(?:\s+(?:there|all|team"
    r"|everyone|folks|hr))*"
    r"\s*[,!.–-]+\s*(?=\S)",
    re.IGNORECASE,
)
_FIGURE = re.compile(
    r"\d|[€£$%]|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|double|twice"
    r"|dozen|week|month|year"
    r"|days?|today|tomorrow|yesterday|january|february|march|april|june|july|august|september"
    r"|october|november|december|christmas"
    r"|easter|summer|winter|spring|autumn)s?\b",
    re.IGNORECASE,
)
_HEADING = re.compile(r"^\s*\[\d+\]\s*([^\n]{3,120})$", re.MULTILINE)
"""A line of sources below an answer: "[1] Annual leave > Carry-over"."""
_NAMED = re.compile(r"[^\W\d_][\w'’-]+")
_ABBREVIATION = re.compile(r"\b[A-Z][A-Z0-9&]{1,6}\b")


@lru_cache
def _asides() -> Phrases[str]:
    path = Path(__file__).with_name("conversation.toml")
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    return Phrases((words, words) for words in content["asides"])


class _Sentence(NamedTuple):
    text: str
    asks: bool


def question_parts(text: str) -> tuple[str, ...]:
    """The questions of a message, each with what was told before them; one that is single comes
    back as one.

    Greetings, thanks and asides are left out. A part that points back ("and how much of it is
    paid?") has the question before it in front, so that each can be searched for by itself."""
    sentences = _sentences(aside_free(text))
    questions = _questions(sentences)
    if len(questions) < 2:
        return (_joined_text(sentences) or text.strip(),)
    before = [sentence.text for sentence in sentences if not sentence.asks]
    setting = _SETTING.match(questions[0])
    if setting:
        before.append(setting["setting"])
        questions[0] = questions[0][setting.end() :]
    parts = [[*before, questions[0]]]
    for previous, question in pairwise(questions):
        needed = [previous] if _points_back(question) else []
        parts.append([*before, *needed, question])
    return tuple(map(" ".join, parts))


def _questions(sentences: Sequence[_Sentence]) -> list[str]:
    """What is asked, one question each."""
    pieces: list[str] = []
    for sentence in sentences:
        if sentence.asks:
            pieces += _split(sentence.text)
    return _joined([piece for piece in pieces if analyse(piece)])


def _points_back(question: str) -> bool:
    return bool(_POINTS_BACK.search(question) or _ELLIPTIC.match(question))


def aside_free(text: str) -> str:
    """`text` without greetings, thanks and the sentences that have nothing to do with what is
    asked; never empty.

    A sentence goes only when it has a word of `conversation.toml`, neither asks nor holds a figure,
    a date, a country or an abbreviation, speaks of nothing that policies speak of and shares no
    word with the question, and no question right behind it points back."""
    sentences = _sentences(text)
    asking = [sentence.text for sentence in sentences if sentence.asks]
    if len(sentences) < LEAST_SENTENCES or not asking:
        return _joined_text(sentences) or text.strip()
    question_terms = set(analyse(" ".join(asking)))
    kept: list[_Sentence] = []
    for place, sentence in enumerate(sentences):
        matters = sentence.asks or _matters(sentence.text, question_terms)
        if matters or _leaned_on(sentences, place):
            kept.append(sentence)
    return _joined_text(kept)


def _joined_text(sentences: Sequence[_Sentence]) -> str:
    return " ".join(sentence.text for sentence in sentences)


def carry_over(question: Question) -> str:
    """What a follow-up may be about beside the asker's own turns: the content words of the last
    answer, headings that it names first, each once and at most `MOST_CARRIED`; empty without an
    answer.

    An answer is worded as the documents are, the asker's turns often are not. For turns that lean
    on history."""
    answer = ""
    for turn in question.history:
        if turn.role == "assistant":
            answer = turn.content
    headings = " ".join(_HEADING.findall(answer))
    content_words: dict[str, None] = {}
    for word in _NAMED.findall(f"{headings} {answer}"):
        if analyse(word):
            content_words[word] = None
    return " ".join(list(content_words)[:MOST_CARRIED])


def _sentences(text: str) -> list[_Sentence]:
    """Sentences as people type them, greetings and thanks left out."""
    pieces: list[str] = []
    one_blank = re.sub(r"[^\S\n]+", " ", text.strip())
    for piece in _END.split(one_blank):
        if pieces and _SHORTENED.search(pieces[-1]):
            pieces[-1] = f"{pieces[-1]} {piece}"
        elif piece and piece.strip():
            pieces.append(piece.strip())
    sentences: list[_Sentence] = []
    for piece in pieces:
        without_greeting = _GREETING.sub("", piece)
        if without_greeting and not _PLEASANTRY.match(piece):
            sentences.append(_Sentence(without_greeting, bool(_ASKS.search(without_greeting))))
    return sentences


def _split(sentence: str) -> list[str]:
    """A sentence of two questions as two; each must be able to stand."""
    start = 0
    pieces: list[str] = []
    for joint in _JOINT.finditer(sentence):
        left = sentence[start : joint.start()]
        right = sentence[joint.end() :][:LONGEST]
        is_elliptic = joint["comma"].strip() and _ELLIPTIC.match(right)
        if _is_question(left) and (is_elliptic or _is_question(right)):
            pieces.append(f"{left.rstrip(' ,;')}?")
            start = joint.end()
    return [*pieces, sentence[start:]]


def _is_question(text: str) -> bool:
    opened = _OPENED.search(text)
    if opened is None or len(analyse(text)) < LEAST_TERMS:
        return False
    return bool(_WHOLE.search(opened.group()))


def _joined(pieces: list[str]) -> list[str]:
    """Echoes ("Is that allowed?") belong to the question before them."""
    kept: list[str] = []
    for piece in pieces:
        says_little = len(analyse(piece)) < LEAST_TERMS
        if kept and says_little and not _ELLIPTIC.match(piece):
            kept[-1] = f"{kept[-1]} {piece}"
        else:
            kept.append(piece)
    return kept


def _matters(sentence: str, question_terms: set[str]) -> bool:
    """Whether a sentence may say something that the question needs."""
    if not _asides().values_in(sentence.lower()) or _FIGURE.search(sentence):
        return True
    if _ABBREVIATION.search(sentence) or not question_terms.isdisjoint(analyse(sentence)):
        return True
    return bool(named_countries(sentence) or policy_words(sentence))


def _leaned_on(sentences: Sequence[_Sentence], place: int) -> bool:
    """Whether the question right behind it points back, or says little by itself."""
    behind = sentences[place + 1 :]
    if not behind or not behind[0].asks:
        return False
    question = behind[0].text
    if _POINTS_BACK.search(question):
        return True
    return len(analyse(question)) < 2 * LEAST_TERMS
