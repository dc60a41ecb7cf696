"""What a text says, without knowing who asks: numbers, sentences, names, tables, language."""

from ombud.text.analysis import analyse, count_cjk, fold
from ombud.text.days.periods import find_first_day, find_period, find_service
from ombud.text.days.spans import Calendar, Period, moved
from ombud.text.evidence import evidence_spans, plain_sentence
from ombud.text.language import (
    common_words,
    detect_language,
    document_language,
    language_margin,
    message_language,
)
from ombud.text.markdown import RULE_ROW, link_host, links_of_words, read_rows, with_links
from ombud.text.names.abbreviations import find_abbreviations
from ombud.text.names.countries import (
    country_list,
    country_names,
    named_countries,
    read_country,
)
from ombud.text.names.entities import (
    alternative_keys,
    display_name,
    entity_key,
    entity_stems,
    name_words,
)
from ombud.text.names.redacting import find_addresses, redact
from ombud.text.numbers import (
    MONTHS,
    digits_in,
    join_groups,
    numbers_in,
    plain_decimal,
    units_named,
)
from ombud.text.phrases import Phrases, phrase_tables, split_words, word_runs
from ombud.text.remembering import forget_passages, remembered
from ombud.text.sentences import clauses_of, split_sentences
from ombud.text.spelling import (
    Corrected,
    Vocabulary,
    correct_spelling,
    english_counts,
    surface_words,
    unknown_words,
)
from ombud.text.tables import (
    KeyRow,
    exactly_named_row,
    key_rows,
    named_row,
    row_in_range,
)
from ombud.text.wording import TermSearch, plain_wording, straight_quotes, term_pattern
