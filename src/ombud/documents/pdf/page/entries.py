"""Read text of a PDF page outside its letters: values of form fields and free-text notes."""

import ctypes
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from pypdfium2 import raw  # type: ignore[import-untyped]

from ombud.documents.pdf.page.placing import Edge

_UNSEEN = raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW
_PASSWORD = 1 << 13
"""Flag of a text field that displays dots instead of its value."""


class PageEntry(NamedTuple):
    box: Edge
    lines: list[str]

    def words(self) -> Iterator[tuple[str, Edge]]:
        """Yield each word with its place, as if all letters had one width."""
        x0, top, x1, bottom = self.box
        height = (bottom - top) / len(self.lines)
        for number, line in enumerate(self.lines):
            width = min((x1 - x0) / len(line), height / 2)
            upper = top + number * height
            end = 0
            for word in line.split():
                start = line.index(word, end)
                end = start + len(word)
                yield word, (x0 + start * width, upper, x0 + end * width, upper + height)


def entry_of(document: Any, annotation: Any) -> str:
    """Return the value of a form field or the text of a free-text note; empty for others."""
    kind = raw.FPDFAnnot_GetSubtype(annotation)
    if kind == raw.FPDF_ANNOT_FREETEXT:
        return read_string(raw.FPDFAnnot_GetStringValue, annotation, b"Contents")
    if kind != raw.FPDF_ANNOT_WIDGET or not document.formenv:
        return ""
    form = document.formenv, annotation
    match raw.FPDFAnnot_GetFormFieldType(*form):
        case raw.FPDF_FORMFIELD_CHECKBOX | raw.FPDF_FORMFIELD_RADIOBUTTON:
            return "☒" if raw.FPDFAnnot_IsChecked(*form) else "☐"
        case raw.FPDF_FORMFIELD_TEXTFIELD:
            is_secret = raw.FPDFAnnot_GetFormFieldFlags(*form) & _PASSWORD
            return "" if is_secret else read_string(raw.FPDFAnnot_GetFormFieldValue, *form)
        case raw.FPDF_FORMFIELD_COMBOBOX | raw.FPDF_FORMFIELD_LISTBOX:
            chosen = []
            for number in range(raw.FPDFAnnot_GetOptionCount(*form)):
                if raw.FPDFAnnot_IsOptionSelected(*form, number):
                    chosen.append(read_string(raw.FPDFAnnot_GetOptionLabel, *form, number))
            return ", ".join(chosen) or read_string(raw.FPDFAnnot_GetFormFieldValue, *form)
    return ""


def is_unseen(annotation: Any) -> bool:
    """Tell whether the page hides an annotation, or may hide its layer."""
    is_hidden = raw.FPDFAnnot_GetFlags(annotation) & _UNSEEN
    return bool(is_hidden or raw.FPDFAnnot_HasKey(annotation, b"OC"))


def read_string(get: Callable[..., int], *arguments: Any) -> str:
    length = get(*arguments, None, 0)
    buffer = (ctypes.c_ushort * (length // 2 + 1))()
    get(*arguments, buffer, length)
    return bytes(buffer).decode("utf-16-le", errors="replace").partition("\0")[0]
