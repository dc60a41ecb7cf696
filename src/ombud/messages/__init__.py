"""What people read, in their language: `LANGUAGE/DOMAIN.po` holds the messages `DOMAIN.name`."""

from ombud.messages.catalogue import (
    AnyLanguage,
    Forms,
    choose_language,
    country_name,
    current_language,
    find_message,
    format_day,
    format_moment,
    format_number,
    format_opening,
    in_all_languages,
    is_message,
    language_names,
    message,
    messages_of,
    use_language,
)
