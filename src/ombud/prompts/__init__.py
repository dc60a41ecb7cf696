"""Prompt files: one folder per task, one .txt per model; a workspace may have its own."""

from ombud.prompts.loading import (
    HERE,
    Prompt,
    Sections,
    digests,
    load,
    load_sections,
    problems,
    shipped,
    tasks,
    variants,
    why_not,
)
