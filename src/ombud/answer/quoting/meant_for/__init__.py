"""For whom a section says it is: a group of people, colleagues in a country."""

from ombud.answer.quoting.meant_for.groups import favour_everyone, is_for_others, named_groups
from ombud.answer.quoting.meant_for.own_country import favour_own_country

__all__ = ["favour_everyone", "favour_own_country", "is_for_others", "named_groups"]
