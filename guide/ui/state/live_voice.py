"""What a voice says when the Live page changes."""

from __future__ import annotations

from dataclasses import dataclass

from guide.ui.state.live import LiveView


@dataclass(frozen=True, slots=True)
class Saying:
    """Words for a voice; urgent ones are never cut off, `sound` is the chime before them.

    >>> Saying("fit board").is_urgent
    False
    """

    words: str
    is_urgent: bool = False
    sound: str = ""


def spoken(before: LiveView | None, after: LiveView) -> tuple[Saying, ...]:
    """What a voice says when the page goes from one view to the next: alerts first; nothing when it was just opened."""
    if before is None or before.session != after.session:
        return ()
    if after.is_over:  # the verdict names what was missed: alerts one by one would say it again
        return () if before.is_over else (Saying(f"{after.now.name}.", True),)
    known = {alert.id: alert.severity for alert in before.alerts}
    news = [alert for alert in after.alerts if known.get(alert.id) != alert.severity and not alert.is_snoozed]
    words = [Saying(alert.spoken, True, alert.severity) for alert in news]
    if after.question is not None and (before.question is None or before.question.id != after.question.id):
        words.append(Saying(after.question.text, True))
    if after.now.step is not None and after.now.step != before.now.step:
        words.append(Saying(after.now.name))
    if after.now.mood == "lost" != before.now.mood:
        words.append(Saying(after.now.name, True, "warning"))
    return tuple(words)
