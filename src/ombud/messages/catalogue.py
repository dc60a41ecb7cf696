"""Finds messages by key. A key that a language lacks is read from the English catalogue."""

from collections.abc import Mapping
from contextvars import ContextVar
from datetime import date, datetime
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Literal, get_args

HERE = Path(__file__).parent
AnyLanguage = Literal["en", "de", "fr", "es", "nl"]
"""Languages of pages and notices. Some answers exist in more: each is a folder."""
_CURRENT: ContextVar[str] = ContextVar("language", default="en")
Forms = tuple[str, ...]
"""A message; with a plural, the form for one and the form for others."""


def message(key: str, language: str = "", *, count: int | None = None, **values: object) -> str:
    """Return a message with its placeholders filled; `count` chooses between singular and plural.

    language: the current one if empty. Raises KeyError for an unknown key."""
    language = language or current_language()
    forms = _forms(key, language) or _forms(key, "en")
    if not forms:
        raise KeyError(key)
    chosen = forms[0]
    if count is not None:
        values["count"] = format_number(count, language=language)
        if not _is_one(count, language):
            chosen = forms[-1]
    return chosen.format(**values) if values else chosen


def find_message(key: str, language: str) -> str:
    """Return a message as it is written, without looking in English; empty if there is none."""
    return next(iter(_forms(key, language)), "")


@cache
def in_all_languages(*keys: str) -> tuple[str, ...]:
    """Return these messages in every language that has them."""
    folders = sorted(path.name for path in HERE.iterdir() if path.is_dir())
    forms = [_forms(key, folder) for key in keys for folder in folders]
    return tuple(chain.from_iterable(forms))


def is_message(text: str, *keys: str) -> bool:
    """Tell whether a text is one of these messages in any language, whatever fills its
    placeholder."""
    for written in in_all_languages(*keys):
        before, after = written.split("{")[0], written.split("}")[-1]
        if text.startswith(before) and text.endswith(after):
            return True
    return False


def messages_of(name: str, language: str = "") -> dict[str, str | Forms]:
    """Return all messages of a domain, for the scripts of a page."""
    merged = {**_read(name, "en"), **_read(name, language or current_language())}
    return {key: forms[0] if len(forms) == 1 else forms for key, forms in merged.items()}


def current_language() -> str:
    """Return the language of the request that is being answered."""
    return _CURRENT.get()


def use_language(language: str) -> None:
    """Set the current language."""
    _CURRENT.set(language)


def choose_language(chosen: str, accepted: str, otherwise: str) -> str:
    """Return the language for a person: the one they chose, else the one their browser prefers
    (`accepted` is an Accept-Language header), else that of the workspace."""
    languages = get_args(AnyLanguage)
    if chosen in languages:
        return chosen
    weighted: list[tuple[float, str]] = []
    for entry in accepted.split(","):
        name, _, weight = entry.partition(";q=")
        try:
            weighted.append((float(weight or 1), name.strip().lower().partition("-")[0]))
        except ValueError:
            continue
    weighted.sort(key=lambda entry: -entry[0])
    return next((name for _, name in weighted if name in languages), otherwise)


@cache
def language_names() -> Mapping[str, str]:
    """Return each language of the pages with its own name for itself."""
    from babel import Locale

    names: dict[str, str] = {}
    for code in get_args(AnyLanguage):
        names[code] = str(Locale(code).get_display_name(code)).capitalize()
    return names


def country_name(code: str, language: str = "") -> str:
    """Return the name of a country, or the code if it has none."""
    from babel import Locale

    return str(Locale.parse(_locale(language or current_language())).territories.get(code, code))


def format_day(value: date, style: Literal["long", "full"] = "long", language: str = "") -> str:
    """Format a date for people, such as 6 April 2026."""
    from babel.dates import format_date

    return format_date(value, style, locale=_locale(language or current_language()))


def format_moment(value: str, language: str = "") -> str:
    """Format a time in ISO 8601 for people, such as 6 Apr 2026, 09:30:00."""
    from babel.dates import format_datetime

    moment = datetime.fromisoformat(value)
    return format_datetime(moment, locale=_locale(language or current_language()))


def format_opening(opens: datetime, language: str = "") -> str:
    """Format when a desk opens, in its own time zone, such as Monday, 7 December 2026, 08:30."""
    from babel.dates import format_time

    locale = _locale(language or current_language())
    time = format_time(opens.time(), "short", locale=locale)
    return f"{format_day(opens.date(), 'full', language)}, {time}"


def format_number(
    value: float, style: Literal["number", "percent", "price"] = "number", language: str = ""
) -> str:
    """Format a number for people, with at most two decimals, such as 1,234.5; a share as 50%, or an
    amount of US dollars as US$0.42."""
    from babel.numbers import format_currency, format_decimal, format_percent

    locale = _locale(language or current_language())
    if style == "percent":
        return str(format_percent(value, locale=locale))
    if style == "price":
        return str(format_currency(value, "USD", locale=locale))
    return str(format_decimal(round(value, 2), locale=locale))


def _locale(language: str) -> str:
    return "en_GB" if language == "en" else language


def _is_one(count: int, language: str) -> bool:
    from babel import Locale

    return bool(Locale(language).plural_form(count) == "one")


def _forms(key: str, language: str) -> Forms:
    return _read(key.partition(".")[0], language).get(key, ())


@cache
def _read(name: str, language: str) -> Mapping[str, Forms]:
    from babel.messages.pofile import read_po

    path = HERE / language / f"{name}.po"
    if not path.is_file():
        return {}
    messages: dict[str, Forms] = {}
    with path.open("rb") as file:
        for entry in read_po(file, ignore_obsolete=True):
            key = entry.id if isinstance(entry.id, str) else entry.id[0]
            written = (entry.string,) if isinstance(entry.string, str) else entry.string
            if key and written and all(written):
                messages[key] = tuple(written)
    return messages
