"""Prompts of the workspace: what the model is told changes with the file, and a wrong file is
said."""

from pathlib import Path

from answer.asking import GB, LEAVE, Script, ask, claim, company, draft, with_model

TRUE = "You have 26 days of annual leave a year."


def test_own_words_reach_the_model_and_go_with_their_file(tmp_path: Path) -> None:
    shelf = company(tmp_path, plan={"abstain": 0.0})
    file = shelf.workspace.home / "prompts" / "compose" / "default.txt"
    file.parent.mkdir(parents=True)
    said, traces = [], []
    for text in ("Speak like a pirate of $organisation.", "Speak for $organization.", None):
        file.write_text(text) if text else file.unlink()
        script = Script(draft(claim(TRUE, "L1")))
        traces.append(ask(with_model(shelf.workspace, script.chat), LEAVE, GB).trace)
        said.append(script.instructions[-1])
    own, wrong, shipped = traces
    assert "pirate" in said[0]
    assert said[1] == said[2]
    assert wrong.prompts == shipped.prompts
    assert own.prompts["compose/default"] != shipped.prompts["compose/default"]
    assert [len(t.degraded) - len(shipped.degraded) for t in traces] == [0, 1, 0]
    assert (
        "compose/default.txt is not used: `compose` has no placeholder $organization"
        in " ".join(wrong.degraded)
    )
