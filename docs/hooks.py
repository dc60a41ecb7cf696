"""What mkdocs calls while it builds the site."""

import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS))
generate = import_module("generate")

IN_FULL = {
    "reference/api.md": generate.full_api_page,
    "reference/cli.md": generate.full_cli_page,
    "reference/prompts.md": generate.full_prompts_page,
}
"""Pages that the repository has in a short form."""
UPWARD = re.compile(r"\[([^\]]+)\]\((\.\./[^)#]+)(?:#[^)]*)?\)")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    in_full = IN_FULL.get(page.file.src_uri)
    folder = (DOCS / page.file.src_uri).parent

    def outside_as_text(link: re.Match[str]) -> str:
        """Name the file that a link out of this folder leads to: the site does not have it."""
        target = (folder / link[2]).resolve()
        if target.is_relative_to(DOCS):
            return link[0]
        return f"{link[1]} (`{target.relative_to(DOCS.parent)}`)"

    return UPWARD.sub(outside_as_text, in_full() if in_full else markdown)
