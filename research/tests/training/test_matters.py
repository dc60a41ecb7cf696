"""The texts that the small reader is taught with."""

from research.training.matters.texts import read_matters


def test_every_matter_is_asked_and_answered_in_several_ways() -> None:
    matters = read_matters()
    assert len({matter.matter for matter in matters}) == len(matters) == 690
    for matter in matters:
        assert len(set(matter.asks)) >= 5, matter.matter
        assert len(set(matter.says)) >= 3, matter.matter
