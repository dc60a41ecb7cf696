"""The small reader: says whether a passage answers a question, and with which sentences."""

from ombud.models.reader.graph import build_reader
from ombud.models.reader.reader import Reader, ReaderPassage, Reading, encode, open_reader
