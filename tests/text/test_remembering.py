"""What was read in passages is kept for the next question, and not beyond the documents' change."""

from ombud.text import forget_passages, remembered


def test_a_passage_is_read_once_until_the_documents_change() -> None:
    read: list[str] = []

    @remembered(2)
    def words(passage: str) -> int:
        read.append(passage)
        return len(passage.split())

    assert [words("Leave is 25 days."), words("Leave is 25 days.")] == [4, 4]
    assert read == ["Leave is 25 days."]
    forget_passages()
    assert words("Leave is 25 days.") == 4
    assert len(read) == 2
