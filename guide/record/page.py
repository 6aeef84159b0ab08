"""A report as one HTML file: pictures inside, no script, no network; it prints well. Every text is escaped."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from datetime import datetime
from html import escape

from guide.record.session_report import AlertHistory, SessionReport, StepFacts, StepVisit, taken_back
from guide.record.timeline import colour, draw_timeline
from guide.record.values import StoredAction

MARKS = {"alarm": "✖", "warning": "▲", "info": "●"}
_STYLE = """
:root { --ink: #1d2b30; --soft: #5c6f76; --line: #d3dcde; --paper: #fff; --tint: #f3f6f6; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.5rem 4rem; max-width: 68rem; color: var(--ink); background: var(--paper);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .2rem; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .7rem; }
.soft { color: var(--soft); } .nowrap { white-space: nowrap; } code { overflow-wrap: anywhere; }
.facts { display: flex; flex-wrap: wrap; gap: .3rem 2rem; margin: 1rem 0 0; padding: .8rem 1rem;
  background: var(--tint); border-radius: .5rem; }
.facts div { min-width: 7rem; max-width: 100%; overflow-wrap: anywhere; }
.facts b { display: block; font-size: .75rem; font-weight: 600; color: var(--soft); }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: .9rem; }
.card { border: 1px solid var(--line); border-top: .3rem solid; border-radius: .5rem; overflow: hidden;
  break-inside: avoid; }
.card p { margin: 0; padding: .45rem .7rem .6rem; overflow-wrap: anywhere; }
.card img, .story img, .none { display: block; width: 100%; aspect-ratio: 4 / 3; object-fit: cover;
  background: #e7eced; }
.none { display: grid; place-items: center; color: var(--soft); font-size: .85rem; }
.story { display: grid; grid-template-columns: 11rem 1fr; gap: 1rem; padding: .8rem; margin: 0 0 .8rem;
  border: 1px solid var(--line); border-left: .35rem solid #8a9aa0; border-radius: .5rem; break-inside: avoid; }
.story img, .story .none { border-radius: .3rem; } .story p { margin: .2rem 0; overflow-wrap: anywhere; }
.alarm { border-left-color: #b3261e; } .warning { border-left-color: #c98a00; } .info { border-left-color: #3b7ea1; }
.gone { opacity: .75; } .gone b { text-decoration: line-through; text-decoration-thickness: 1px; }
.verdict { margin: .8rem 0 0; padding: .5rem 1rem; font-size: 1.25rem; font-weight: 600; border-radius: .5rem;
  border-left: .5rem solid #8a9aa0; background: var(--tint); overflow-wrap: anywhere; }
.verdict.complete { border-color: #1e7d4f; } .verdict.look { border-color: #c98a00; }
.verdict.not_complete { border-color: #b3261e; }
.tag { display: inline-block; padding: 0 .5rem; border: 1px solid var(--line); border-radius: 1rem; font-size: .8rem; }
table { border-collapse: collapse; width: 100%; } td, th { padding: .35rem .6rem .35rem 0; text-align: left;
  border-bottom: 1px solid var(--line); vertical-align: middle; overflow-wrap: anywhere; }
th { font-size: .8rem; color: var(--soft); white-space: nowrap; } tr { break-inside: avoid; }
td.bar { width: 38%; min-width: 9rem; } .wide { overflow-x: auto; }
svg { display: block; width: 100%; height: auto; } svg text { font: 12px system-ui, sans-serif; fill: var(--ink); }
footer { margin-top: 3rem; color: var(--soft); font-size: .85rem; }
@media (max-width: 40rem) { .story { grid-template-columns: 1fr; } body { padding: 1rem; }
  .cards { grid-template-columns: 1fr 1fr; } .wide > svg, .wide > table { width: 46rem; } }
@media print { body { max-width: none; padding: 0; font-size: 11px; } @page { margin: 14mm; }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; } h2 { break-after: avoid; }
  .cards { grid-template-columns: repeat(4, 1fr); } .story { grid-template-columns: 8rem 1fr; } }
"""


def to_html(report: SessionReport, stills: Mapping[str, bytes]) -> str:
    """The page; `stills` holds the JPEG of each picture's file that could be read."""
    facts = report.session.facts
    title = f"Session {report.session.id}"
    parts = [
        f"<h1>{escape(title)}</h1><p class=soft>{escape(_day(facts.started))}, {_summary(report)}</p>",
        _verdict(report),
        _facts(report),
        f"<h2>Timeline</h2><div class=wide>{draw_timeline(report)}</div>",
        f"<h2>Steps</h2>{_cards(report.visits, stills)}",
        f"<h2>Alerts</h2>{_stories(report, stills)}",
        f"<h2>Durations against the demonstrations</h2>{_durations(report)}",
        f"<h2>Operator's actions</h2>{_actions(report)}",
        f"<h2>How the session fared</h2>{_notes(report)}",
        "<footer>Made by cnc-guide. An aid, not a safety device: what it flags and what it misses needs a person's "
        "judgement.</footer>",
    ]
    # Nothing is loaded from anywhere, whatever a name in the session says.
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    return (
        f"<!doctype html>\n<html lang=en><head><meta charset=utf-8><title>{escape(title)}</title>"
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f'<meta name=viewport content="width=device-width"><style>{_STYLE}</style></head>\n'
        f"<body>{chr(10).join(parts)}</body></html>\n"
    )


def clock(seconds: float) -> str:
    """Minutes and seconds of a session.

    >>> clock(83.25), clock(3725.0)
    ('1:23', '1:02:05')
    """
    whole = max(0, round(seconds))
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60}:{rest % 60:02d}"


def _day(started: float) -> str:
    return datetime.fromtimestamp(started).astimezone().strftime("%A %-d %B %Y, %H:%M:%S %Z")


def _summary(report: SessionReport) -> str:
    standing = sum(story.outcome == "stands" for story in report.alerts)
    words = "no alert stands" if not standing else f"{standing} alert{'s stand' if standing > 1 else ' stands'}"
    done = f"{report.done} step{'' if report.done == 1 else 's'} done"
    return escape(f"{clock(report.length_s)} long, {done}, {words}")


def _verdict(report: SessionReport) -> str:
    words = report.session.verdict
    return f'<p class="verdict {escape(report.ending)}">{escape(words)}</p>' if words else ""


def _facts(report: SessionReport) -> str:
    session = report.session
    pairs = [
        ("Person", session.facts.person or "not given"),
        ("State", session.state),
        ("Bundle", f"{session.facts.bundle} ({session.facts.bundle_hash})"),
        ("Source", session.facts.source),
        ("Frames", str(session.frames)),
        ("Video", ", ".join(clip.file for clip in report.clips) or "none"),
    ]
    return f"<div class=facts>{''.join(f'<div><b>{escape(k)}</b>{escape(v)}</div>' for k, v in pairs)}</div>"


def _picture(file: str | None, stills: Mapping[str, bytes], words: str) -> str:
    data = stills.get(file) if file is not None else None
    if data is None:
        return "<div class=none>no picture</div>"
    return f'<img alt="{escape(words)}" src="data:image/jpeg;base64,{base64.b64encode(data).decode()}">'


def _cards(visits: Iterable[StepVisit], stills: Mapping[str, bytes]) -> str:
    cards = [
        f'<div class=card style="border-top-color:{colour(visit.step)}">{_picture(visit.still, stills, visit.name)}'
        f"<p><b>{escape(visit.name)}</b><br><span class=soft>{clock(visit.start)} to {clock(visit.end)}, "
        f"{visit.seconds:.1f} s</span></p></div>"
        for visit in visits
    ]
    return f"<div class=cards>{''.join(cards)}</div>" if cards else "<p class=soft>No step was confirmed.</p>"


def _stories(report: SessionReport, stills: Mapping[str, bytes]) -> str:
    found = [_story(report, story, stills) for story in report.alerts]
    asked = "".join(
        f"<p><span class=soft>{clock(one.at)}</span> ? {escape(one.text)} <span class=tag>not answered</span></p>"
        for one in report.unanswered
    )
    return ("".join(found) or "<p class=soft>No alert was raised.</p>") + asked


def _story(report: SessionReport, story: AlertHistory, stills: Mapping[str, bytes]) -> str:
    alert = story.alert
    gone = " gone" if story.outcome == "withdrawn" else ""
    end = f" at {clock(story.resolution.at)}" if story.resolution is not None else ""
    return (
        f'<div class="story {escape(alert.severity)}{gone}">{_picture(story.still, stills, story.name)}<div>'
        f"<p><span class=soft>{clock(story.raised_at)}</span> {MARKS.get(alert.severity, '●')} "
        f"<b>{escape(alert.kind.replace('_', ' '))}: {escape(story.name)}</b></p>"
        f"<p>{escape(alert.evidence)}</p><p><span class=tag>{escape(alert.severity)}</span> "
        f"<span class=tag>{escape(story.outcome + end)}</span></p>{_done_about(report, alert.id)}</div></div>"
    )


def _done_about(report: SessionReport, alert: int) -> str:
    """What people did about an alert, a line each."""
    undone = taken_back(report.actions)
    lines = [
        f"{clock(one.at)} {one.kind.replace('_', ' ')}{f', {one.person}' if one.person else ''}"
        f"{f': {one.comment}' if one.comment else ''}{' (taken back)' if one.number in undone else ''}"
        for one in report.actions
        if one.target == alert and one.kind != "undo"
    ]
    return "".join(f"<p class=soft>{escape(line)}</p>" for line in lines)


def _durations(report: SessionReport) -> str:
    longest = max([visit.seconds for visit in report.visits], default=0.0)
    scale = max([longest, *(step.durations_s[-1] for step in report.steps if step.durations_s), 1e-9])
    rows = [_duration(report, step, scale) for step in report.steps]
    if not rows:
        return "<p class=soft>The session holds no procedure to compare with.</p>"
    head = "<tr><th>Step<th>Here<th>Usually<th>Demonstrations: range, median; here: a dot a turn</tr>"
    return _table([head, *rows])


def _duration(report: SessionReport, step: StepFacts, scale: float) -> str:
    visits = [visit.seconds for visit in report.visits if visit.step == step.number]
    here = " and ".join(f"{seconds:.1f} s" for seconds in visits) or "not seen"
    usual = f"{step.durations_s[2]:.1f} s" if step.durations_s else "unknown"
    return (
        f"<tr><td>{escape(step.name)}<td>{here}<td class=nowrap>{usual}<td class=bar>{_bar(step, visits, scale)}</tr>"
    )


def _bar(step: StepFacts, here: Iterable[float], scale: float) -> str:
    def x(seconds: float) -> float:
        return round(6 + 288 * seconds / scale, 1)

    marks = []
    if step.durations_s:
        low, tenth, half, ninetieth, high = (x(seconds) for seconds in step.durations_s)
        marks = [
            f'<line x1="{low}" x2="{high}" y1="9" y2="9" stroke="#9fb0b6" stroke-width="2"/>',
            f'<rect x="{tenth}" y="5" width="{max(ninetieth - tenth, 1):.1f}" height="8" fill="#c5d1d5"/>',
            f'<line x1="{half}" x2="{half}" y1="3" y2="15" stroke="#5c6f76" stroke-width="2"/>',
        ]
    for seconds in here:
        marks.append(f'<circle cx="{x(seconds)}" cy="9" r="5" fill="{colour(step.number)}" stroke="#1d2b30"/>')
    return f'<svg viewBox="0 0 300 18" role="img" aria-label="duration of {escape(step.name)}">{"".join(marks)}</svg>'


def _actions(report: SessionReport) -> str:
    undos = {number: f", taken back by {undo}" for number, undo in taken_back(report.actions).items()}
    rows = [
        f"<tr><td class=nowrap>{clock(one.at)}<td>{one.number}"
        f"<td>{escape(one.kind.replace('_', ' '))}{undos.get(one.number, '')}"
        f"<td>{escape(about(report, one))}<td>{escape(one.person)}<td>{escape(one.comment)}</tr>"
        for one in report.actions
    ]
    if not rows:
        return "<p class=soft>Nobody intervened.</p>"
    return _table(["<tr><th>At<th>No.<th>Action<th>About<th>Person<th>Comment</tr>", *rows])


def about(report: SessionReport, action: StoredAction) -> str:
    """What an operator's action was about: the step, the alert or the question, in words."""
    if action.step is not None:
        return report.name(action.step)
    if action.kind == "undo":
        undone = next((one for one in report.actions if one.number == action.target), None)
        return "" if undone is None else f"{undone.kind.replace('_', ' ')}, {clock(undone.at)}"
    for story in report.alerts:
        if story.alert.id == action.target:
            return f"{story.alert.kind.replace('_', ' ')}: {story.name}"
    asked = next((one.text for one in report.contents.questions if one.id == action.target), "")
    return f"{asked} {'yes' if action.answer else 'no'}" if asked and action.answer is not None else asked


def _notes(report: SessionReport) -> str:
    rows = [f"<tr><td class=nowrap>{clock(one.at)}<td>{escape(one.note)}</tr>" for one in report.notes]
    return _table(rows) if rows else "<p class=soft>No trouble was noted.</p>"


def _table(rows: Iterable[str]) -> str:
    return f"<div class=wide><table>{''.join(rows)}</table></div>"
