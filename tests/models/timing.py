"""Time that passes when it is told to."""

from ombud.models.chat.resilience import Timing


class Clock:
    """now: seconds. slept: every pause that was made, none of which took any time. chance: what is
    drawn, always."""

    def __init__(self, chance: float = 0.0) -> None:
        self.now, self.chance = 1000.0, chance
        self.slept: list[float] = []

    @property
    def timing(self) -> Timing:
        return Timing(lambda: self.now, self._sleep, lambda: self.chance)

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
