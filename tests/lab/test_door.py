import asyncio
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from copies import open_copy
from lab.makers import case, gold, hit
from lab.scripted import ScriptedTarget, cases
from ombud import lab
from ombud.errors import SetupError
from ombud.types import Observation

HEAVY = ("numpy", "scipy", "ir_measures", "pytrec_eval", "sacrebleu", "matplotlib")


def test_the_door_imports_none_of_the_libraries_that_scores_need() -> None:
    seen = f"import ombud.lab, sys; print([name for name in {HEAVY} if name in sys.modules])"
    command = [sys.executable, "-c", seen]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"


def test_without_the_extra_a_score_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    seen = Observation(case=case(gold("26 days")), hits=(hit("not here", id="never seen"),) * 7)
    with pytest.raises(SetupError, match="`ir_measures`, which is not installed") as missing:
        lab.score(seen, [lab.parse_metric("ndcg@7")])
    assert missing.value.hint == "pip install 'ombud[lab]'"


def test_without_the_extra_a_run_asks_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    target = ScriptedTarget()
    options = lab.RunOptions(lab.parse_metrics("token_f1"), name="leave", dataset="leave.jsonl")
    with (
        closing(open_copy(tmp_path)) as store,
        pytest.raises(SetupError, match="`scipy`, which is not installed"),
    ):
        asyncio.run(lab.run_cases(cases(3), target, store, options))
    assert target.asked == []
