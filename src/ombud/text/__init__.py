"""What a text says, without knowing who asks: numbers, sentences, names, tables, language."""

from ombud.text.analysis import analyse, fold
from ombud.text.dates import MONTHS
from ombud.text.days.periods import find_period
from ombud.text.days.spans import Calendar, Period
from ombud.text.evidence import evidence_spans, plain_sentence
from ombud.text.language import (
    common_words,
    detect_language,
    document_language,
    language_margin,
    message_language,
)
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
from ombud.text.remembering import forget_passages, remembered
from ombud.text.sentences import split_sentences
from ombud.text.spelling import (
    Corrected,
    Vocabulary,
    correct_spelling,
    surface_words,
    unknown_words,
)
from ombud.text.tables.keys import key_rows, named_row
from ombud.text.tables.ranges import read_range
from ombud.text.units import units_named
from ombud.text.wording import TermSearch, plain_wording, term_pattern

__all__ = [
    "DIGITS",
    "MONTHS",
    "NUMBER_WORDS",
    "Calendar",
    "Corrected",
    "Period",
    "Phrases",
    "TermSearch",
    "Vocabulary",
    "alternative_keys",
    "analyse",
    "called_countries",
    "common_words",
    "correct_spelling",
    "country_list",
    "country_names",
    "detect_language",
    "digits_in",
    "display_name",
    "document_language",
    "entity_key",
    "entity_stems",
    "evidence_spans",
    "find_abbreviations",
    "find_addresses",
    "find_names",
    "find_period",
    "find_quotations",
    "fold",
    "forget_passages",
    "grades_between",
    "join_groups",
    "key_rows",
    "language_margin",
    "links_of_words",
    "message_language",
    "name_words",
    "named_countries",
    "named_row",
    "numbers_in",
    "phrase_tables",
    "plain_decimal",
    "plain_sentence",
    "plain_wording",
    "read_country",
    "read_range",
    "read_rows",
    "redact",
    "remembered",
    "shown_host",
    "split_sentences",
    "split_words",
    "surface_words",
    "term_pattern",
    "units_named",
    "unknown_words",
    "with_links",
    "word_stem",
]
