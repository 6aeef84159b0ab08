"""The Live page's own HTML: what must be read from three metres, the timeline, the health. All text is escaped."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

from guide.procedure.wording import MOODS
from guide.ui.state.live import ItemView, LiveView, NextView, NowView
from guide.ui.state.live_alerts import AlertView

LONG, LONGER = 14, 26  # letters of a name beyond which it is written smaller

Still = Callable[[int, int], str]
"""The address of a demonstration's picture of a step, the first being number 1."""

STYLE = Path(__file__).with_name("live.css")


def head(view: LiveView) -> str:
    """The session in a line."""
    return _wrapped(f'<div class="guide-head" title="{_text(view.title)}">{_text(view.title)}</div>')


def now(view: LiveView) -> str:
    """The current step, large; an alert that waits for an answer takes its place, the verdict when all is over."""
    return _wrapped(_now(view) if view.loud is None else _loud(view, view.loud))


def following(view: LiveView, still: Still) -> str:
    """The next step and its alternatives, or how to do what an alert asks for.

    It says the same from tick to tick, so that its clip plays on.
    """
    if view.loud is not None and view.loud.shows is not None:
        return _wrapped(_how(view.loud, view.loud.shows, still))
    return _wrapped(_next(view, still))


def clips(pictures: Mapping[int, bytes]) -> str:
    """Moving pictures (WebP) in the place of the steps' stills, for whom movement does not disturb."""
    rules = (
        f".guide-clip-{step:d} {{ content: url(data:image/webp;base64,{b64encode(data).decode()}); }}"
        for step, data in pictures.items()
    )
    return f"<style>@media (prefers-reduced-motion: no-preference) {{ {' '.join(rules)} }}</style>"


def picture(address: str) -> str:
    """The moving picture, straight from the server."""
    return _wrapped(f'<div class="guide-picture"><img src="{_text(address)}" alt="What the camera sees"></div>')


def stills(pictures: Sequence[bytes]) -> str:
    """A row of JPEG pictures; it comes with the page, so there is nothing to wait for."""
    sources = (f"data:image/jpeg;base64,{b64encode(one).decode()}" for one in pictures)
    shown = "".join(f'<img src="{source}" alt="A step of the task">' for source in sources)
    return f'<div class="guide-stills">{shown}</div>'


def steps(view: LiveView) -> str:
    """Progress, timeline, how the loop fares, and what is wrong with accelerator, recording or source."""
    share = f'<div class="guide-bar"><i style="width: {100 * view.share:.0f}%"></i></div>'
    items = "".join(_item(item) for item in view.timeline)
    progress = f'<div class="guide-progress"><b>{_text(view.progress)}</b>{share}</div>'
    health = "".join(
        f"<span>{_text(one.name)} <b{_number_key(one.key)}>{_text(one.value)}</b></span>" for one in view.health
    )
    notice = f'<p class="guide-small">{_text(view.notice)}</p>' if view.notice else ""
    return _wrapped(f'{progress}<ol class="guide-steps">{items}</ol><div class="guide-health">{health}</div>{notice}')


def visits(view: LiveView) -> str:
    """The order of work as it happened, the newest at the right; steps that were done again stand there again."""
    before = f"<li>… {view.earlier:d} before</li>" if view.earlier else ""
    whole = " guide-whole" if view.is_over else ""
    shown = "".join(
        f'<li style="border-left-color: {one.colour}" title="{_text(one.name)}, {_text(one.words)}">'
        f"<span>{_text(f'{one.sign} {one.name}')}</span> <small>{_text(one.words)}</small></li>"
        for one in view.visits
    )
    return _wrapped(f'<ol class="guide-visits{whole}" aria-label="The order of work so far">{before}{shown}</ol>')


def alert(one: AlertView, snapshot: str) -> str:
    """An alert without its buttons; `snapshot` is the address of its picture, or nothing."""
    shown = f'<img src="{_text(snapshot)}" alt="The moment of this alert">' if snapshot else ""
    seen = " · acknowledged" if one.is_acknowledged else ""
    quiet = " · snoozed" if one.is_snoozed else ""
    return _wrapped(
        f'<div class="guide-alert"><div><p class="guide-small">{one.icon} {_text(one.severity_word)} · {_text(one.at)}'
        f"{seen}{quiet}</p><h4>{_text(one.title)}</h4><p>{_text(one.reason)}</p>"
        f'<p class="guide-small">{_text(one.evidence)}</p></div>{shown}</div>'
    )


def meanings(answers: Iterable[tuple[str, str]]) -> str:
    """What each answer means, a line each."""
    lines = "<br>".join(f"<b>{_text(words)}</b>: {_text(meaning)}" for words, meaning in answers)
    return _wrapped(f'<p class="guide-small">{lines}</p>')


def question(text: str) -> str:
    return _wrapped(
        f'<p class="guide-small">The guide is not sure and asks</p><div class="guide-ask">{_text(text)}</div>'
    )


def phone(address: str, drawn: str) -> str:
    """Where a phone's or headset's browser is to go; `drawn` is a QR code as the address of a picture."""
    link = f'<a href="{_text(address)}" target="_blank" rel="noreferrer">open the camera page here</a>'
    return _wrapped(
        f'<div class="guide-phone"><img src="{_text(drawn)}" alt="QR code of the camera page"><div>'
        f"<p>Scan this with the phone or headset, or {link}.</p></div></div>"
    )


def _number_key(key: str) -> str:
    """Marks a number that the page's own script writes."""
    return f' data-number="{_text(key)}"' if key else ""


def _loud(view: LiveView, alert: AlertView) -> str:
    """An alert in the place of the step: what to do, why, and what is being done meanwhile."""
    meanwhile = "Paused" if view.is_paused else f"Now: {view.now.name}" if view.now.name else ""
    kind = f"{alert.severity} paused" if view.is_paused else alert.severity
    return (
        f'<div class="guide-now {kind}"><p class="guide-small guide-clock">'
        f"<span>{alert.icon} {_text(alert.severity_word.upper())} · {_text(alert.title)}</span>"
        f"<b>{_text(view.clock)}</b></p>"
        f'<div class="guide-name {_size(alert.todo)}" role="alert">{_text(alert.todo)}</div>'
        f'<p>{_text(alert.reason)}</p><p class="guide-meanwhile">{_text(meanwhile)}</p></div>'
    )


def _how(alert: AlertView, step: int, still: Still) -> str:
    return (
        f'<div class="guide-next guide-how"><p class="guide-small">HOW IT IS DONE</p><img class="guide-clip-{step:d}" '
        f'src="{_text(still(step, 1))}" alt="{_text(alert.todo)}, as it was done"></div>'
    )


def _size(name: str) -> str:
    return "longer" if len(name) > LONGER else "long" if len(name) > LONG else ""


def _now(view: LiveView) -> str:
    now = view.now
    mood, sure = (f" · {words}" if words else "" for words in (MOODS[now.mood], now.confidence))
    small = (
        f'<p class="guide-small guide-clock"><span>{"ENDED" if now.mood == "over" else "NOW"}'
        f'<span class="guide-mood">{escape(mood)}</span><span class="guide-sure">{escape(sure)}</span></span>'
        f"<b>{_text(view.clock)}</b></p>"
    )
    name = f'<div class="guide-name {_size(now.name)}">{_text(now.name)}</div>'
    if now.step is None:
        ending = "" if view.ending is None else f" {view.ending.replace('_', '-')}"
        return f'<div class="guide-now {now.mood}{ending}">{small}{name}<p>{_text(view.remark)}</p></div>'
    return f'<div class="guide-now {now.mood}">{small}{name}{_bar(now)}</div>'


def _bar(now: NowView) -> str:
    band = f'<u style="left: {100 * now.low:.1f}%; width: {100 * (now.high - now.low):.1f}%"></u>'
    fill = f'<i style="width: {100 * now.share:.1f}%"></i>'
    mark = f'<s style="left: {100 * now.usual:.1f}%"></s>'
    times = " ".join(f"{seconds:g}" for seconds in now.times_s)
    bar = f'<div class="guide-bar" data-times="{times}">{fill}{band}{mark}</div>' if now.times_s else ""
    return f'{bar}<div class="guide-times"><b>{_text(now.elapsed)}</b><span>{_text(now.expected)}</span></div>'


def _next(view: LiveView, still: Still) -> str:
    if not view.next:
        words = "All steps done" if view.is_all_done else "–"
        return f'<div class="guide-next"><div><p class="guide-small">NEXT</p><strong>{words}</strong></div></div>'
    first, *others = view.next
    shown = (
        f'<img class="guide-clip-{first.step:d}" src="{_text(still(first.step, 1))}" '
        f'alt="{_text(first.name)}, as it was done">'
        if first.stills
        else ""
    )
    rest = "".join(_line("li", f"or {one.name} ({one.count})") for one in others)
    return (
        f'<div class="guide-next" data-say="{_text(first.say)}"><div><p class="guide-small">NEXT</p>'
        f"{_line('strong', first.name)}"
        f"{_line('p', _whereof(first, bool(view.visits)), 'guide-small guide-why')}</div>{shown}<ul>{rest}</ul></div>"
    )


def _line(tag: str, words: str, kind: str = "") -> str:
    """Words that may be cut where there is no room; they are told whole under the pointer."""
    return f'<{tag} class="{kind}" title="{_text(words)}">{_text(words)}</{tag}>'


def _whereof(choice: NextView, is_begun: bool) -> str:
    """What speaks for the first choice; there is room to say what is counted."""
    count, comma, rest = choice.count.partition(",")
    what = "did this next" if is_begun else "demonstrations began this way"
    return f"{count} {what}{comma}{rest}" if count[:1].isdecimal() else choice.count


def _item(item: ItemView) -> str:
    place = item.standing.replace(" ", "-")
    words = ", ".join(word for word in (item.standing, item.words) if word and word != "optional")
    return (
        f'<li class="{place}"><span aria-hidden="true">{item.icon}</span><span>{_text(item.name)}</span>'
        f"<small>{_text(words)}</small></li>"
    )


def _wrapped(inner: str) -> str:
    return f'<div class="guide-line">{inner}</div>'


def _text(text: str) -> str:
    """Text from outside, fit for HTML and its attributes, on one line."""
    return escape(" ".join(text.split()), quote=True)
