"""Is the right passage found, on public material other than handbooks: a law, an encyclopaedia,
conversations?

Three parts, each written to research/results/retrieval-NAME.md; a part whose material does not lie
beside the repository is left out. Indexes and runs are kept in .bench/, so that a stopped
measurement goes on.
Run: make retrieval, or python benchmarks/quality/retrieval.py [ll144] [xquad] [mtrag]
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "speed"))
import conversations
import law
import paragraphs
from record import ROOT

PARTS = {"ll144": law.report, "xquad": paragraphs.report, "mtrag": conversations.report}


def main() -> None:
    unknown = set(sys.argv[1:]) - set(PARTS)
    if unknown:
        sys.exit(f"No part is called {min(unknown)}; known: {', '.join(PARTS)}.")
    for name in sys.argv[1:] or PARTS:
        written = PARTS[name]()
        if written:
            (ROOT / f"research/results/retrieval-{name}.md").write_text(written, encoding="utf-8")
            print(written)


if __name__ == "__main__":
    main()
