"""What a text says, without knowing who asks: numbers, sentences, clauses, names, tables,
language."""

from ombud.text.analysis import analyse, fold
from ombud.text.clauses import (
    OPEN_END,
    WORDS,
    CitedPassage,
    Clause,
    Sentence,
    content_terms,
    evidence_spans,
    passage_of,
    plain_sentence,
    read_passage,
    read_sentence,
)
from ombud.text.dates import MONTHS
from ombud.text.days.periods import find_period
from ombud.text.days.spans import Calendar, Period
from ombud.text.figures import SentenceFigures, numbers_beside_quantities, read_figures
from ombud.text.language import common_words, detect_language, language_margin, message_language
from ombud.text.markdown import links_of_words, read_rows, shown_host, with_links
from ombud.text.names.abbreviations import find_abbreviations
from ombud.text.names.countries import called_countries, country_names, named_countries
from ombud.text.names.entities import (
    alternative_keys,
    display_name,
    entity_key,
    entity_stems,
    name_words,
)
from ombud.text.names.finding import (
    find_addresses,
    find_names,
    find_quotations,
    grades_between,
    split_words,
    word_stem,
)
from ombud.text.names.redacting import redact
from ombud.text.names.written_countries import country_list, read_country
from ombud.text.numbers import (
    DIGITS,
    NUMBER_WORDS,
    digits_in,
    join_groups,
    numbers_in,
    plain_decimal,
)
from ombud.text.phrases import Phrases, phrase_tables
from ombud.text.quantities import Quantity
from ombud.text.scope import quantifiers
from ombud.text.scope.conditions import (
    Narrowing,
    StatedCondition,
    find_conditions,
    find_narrowing,
    unit_kinds,
)
from ombud.text.scope.excesses import Excess, find_excesses
from ombud.text.scope.parties import COMPANY, EMPLOYEE, leading_party, parties_in, party_spans
from ombud.text.scope.remembering import forget_passages, remembered
from ombud.text.scope.synonyms import canonical_terms, free_words, has_synonyms
from ombud.text.scope.vocabulary import is_topic_word
from ombud.text.sentences import split_sentences
from ombud.text.spelling import (
    Corrected,
    Vocabulary,
    correct_spelling,
    surface_words,
    unknown_words,
)
from ombud.text.units import units_named
from ombud.text.wording import TermSearch, plain_wording, term_pattern

__all__ = [
    "COMPANY",
    "DIGITS",
    "EMPLOYEE",
    "MONTHS",
    "NUMBER_WORDS",
    "OPEN_END",
    "WORDS",
    "Calendar",
    "CitedPassage",
    "Clause",
    "Corrected",
    "Excess",
    "Narrowing",
    "Period",
    "Phrases",
    "Quantity",
    "Sentence",
    "SentenceFigures",
    "StatedCondition",
    "TermSearch",
    "Vocabulary",
    "alternative_keys",
    "analyse",
    "called_countries",
    "canonical_terms",
    "common_words",
    "content_terms",
    "correct_spelling",
    "country_list",
    "country_names",
    "detect_language",
    "digits_in",
    "display_name",
    "entity_key",
    "entity_stems",
    "evidence_spans",
    "find_abbreviations",
    "find_addresses",
    "find_conditions",
    "find_excesses",
    "find_names",
    "find_narrowing",
    "find_period",
    "find_quotations",
    "fold",
    "forget_passages",
    "free_words",
    "grades_between",
    "has_synonyms",
    "is_topic_word",
    "join_groups",
    "language_margin",
    "leading_party",
    "links_of_words",
    "message_language",
    "name_words",
    "named_countries",
    "numbers_beside_quantities",
    "numbers_in",
    "parties_in",
    "party_spans",
    "passage_of",
    "phrase_tables",
    "plain_decimal",
    "plain_sentence",
    "plain_wording",
    "quantifiers",
    "read_country",
    "read_figures",
    "read_passage",
    "read_rows",
    "read_sentence",
    "redact",
    "remembered",
    "shown_host",
    "split_sentences",
    "split_words",
    "surface_words",
    "term_pattern",
    "unit_kinds",
    "units_named",
    "unknown_words",
    "with_links",
    "word_stem",
]
