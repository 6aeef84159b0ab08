"use strict";
// The steps of a recording on a line: edges are dragged, keys say what is being done while the video plays.
// Speaks Streamlit's component messages by hand; no library and no address but the page's own.

const at = (id) => document.getElementById(id);
const state = { steps: [], parts: [], duration: 1, stamp: -1, chosen: -1, drag: null, video: null, place: 0, frame: 0.04, edges: [], zoom: 1, loop: false, told: "", sent: "", past: [], future: [], other: null };
const LETTERS = "acdefghijklmnopqrstuvwxyz"; // b: none of them
const LEAST = 0.1; // seconds a step lasts at least
const SPEEDS = [0.5, 1, 2];
const LARGEST = 16; // of the zoom
const STILL_PX = 62; // the width of a still under the line

function send(type, more) {
  window.parent.postMessage({ isStreamlitMessage: true, type, ...more }, "*");
}

// Tells the page what was drawn, and keeps what was there before, to be taken back.
function tell() {
  if (JSON.stringify(state.parts) !== state.told) {
    state.past.push(state.told);
    state.future = [];
  }
  hand();
}

function hand() {
  state.told = JSON.stringify(state.parts);
  state.stamp += 1;
  const segments = state.parts.map((one) => [one.step, round(one.start), round(one.end)]);
  state.sent = JSON.stringify(segments);
  send("streamlit:setComponentValue", { value: { segments, stamp: state.stamp }, dataType: "json" });
}

function travel(from, to) {
  if (!from.length) return;
  to.push(state.told);
  state.parts = JSON.parse(from.pop());
  state.chosen = -1;
  draw();
  hand();
}

const undo = () => travel(state.past, state.future);
const redo = () => travel(state.future, state.past);

const round = (value) => Math.round(value * 1000) / 1000;

// --- the video on the page around us ---------------------------------------------------------------------------

function video(which = ".st-key-review_video video") {
  try {
    return window.parent.document.querySelector(which);
  } catch {
    return null; // another origin: typing and dragging still work
  }
}

function now() {
  const playing = video();
  return Math.min(playing ? playing.currentTime : state.place, state.duration);
}

function go(seconds) {
  state.place = Math.max(0, Math.min(seconds, state.duration));
  const playing = video();
  if (playing) playing.currentTime = state.place;
  follow();
}

function toggle() {
  const playing = video();
  if (!playing) return;
  if (playing.paused) playing.play(); else playing.pause();
}

function nudge(frames) {
  const playing = video();
  if (playing) playing.pause();
  go(now() + frames * state.frame);
}

function hurry(speed) {
  const playing = video();
  if (playing) playing.playbackRate = speed;
  document.querySelectorAll(".speed").forEach((one) => one.setAttribute("aria-pressed", String(Number(one.dataset.speed) === speed)));
}

function faster(by) {
  const playing = video();
  const place = SPEEDS.indexOf(playing ? playing.playbackRate : 1) + by;
  if (SPEEDS[place]) hurry(SPEEDS[place]);
}

// What is played over and over: the chosen step, else the one that is shown when it is switched on.
function loop() {
  const place = now();
  const part = state.parts[state.chosen] || state.parts.find((one) => one.start <= place && place < one.end);
  state.loop = state.loop || !part ? null : part;
  at("loop").setAttribute("aria-pressed", String(Boolean(state.loop)));
  if (!state.loop) return;
  go(state.loop.start);
  const playing = video();
  if (playing) playing.play();
}

function zoom(by) {
  state.zoom = Math.max(1, Math.min(state.zoom * by, LARGEST));
  for (const id of ["bar", "stills"]) at(id).style.width = `${100 * state.zoom}%`;
  at("scroll").scrollLeft = (at("bar").clientWidth * now()) / state.duration - at("scroll").clientWidth / 2;
  draw();
  stills();
}

const clock = (seconds) => `${Math.floor(seconds / 60)}:${(seconds % 60).toFixed(1).padStart(4, "0")}`;

function follow() {
  const playing = video();
  const seconds = now();
  if (playing && state.loop && (seconds >= state.loop.end || seconds < state.loop.start - 0.5)) playing.currentTime = state.loop.start;
  if (playing && !playing.paused) reveal(seconds);
  document.querySelector(".film").hidden = !playing;
  at("undo").disabled = !state.past.length;
  at("redo").disabled = !state.future.length;
  at("out").disabled = state.zoom <= 1;
  at("in").disabled = state.zoom >= LARGEST;
  stills();
  at("head").style.left = `${(100 * seconds) / state.duration}%`;
  at("clock").textContent = clock(seconds);
  followOther(seconds);
  at("play").hidden = !playing;
  at("play").textContent = playing && !playing.paused ? "❚❚ Pause" : "▶ Play";
}

// --- another recording beside it -------------------------------------------------------------------------------

// Where the other did what is done here: within the same turn of the same step, as far through it.
function thereOf(seconds) {
  const pair = state.other.pairs.find(([start, end]) => start <= seconds && seconds < end);
  return pair ? pair[2] + ((seconds - pair[0]) * (pair[3] - pair[2])) / Math.max(pair[1] - pair[0], 0.001) : null;
}

function hereOf(seconds) {
  const pair = state.other.pairs.find(([, , start, end]) => start <= seconds && seconds < end);
  return pair ? pair[0] + ((seconds - pair[2]) * (pair[1] - pair[0])) / Math.max(pair[3] - pair[2], 0.001) : null;
}

function followOther(seconds) {
  at("there").hidden = at("other").hidden = !state.other;
  if (!state.other) return;
  const there = thereOf(seconds), { name, duration, segments } = state.other;
  at("otherhead").hidden = there === null;
  const done = there === null ? null : segments.find(([, start, end]) => start <= there && there < end);
  const label = done ? (state.steps.find((one) => one.number === done[0]) || { label: "?" }).label : "";
  at("there").textContent = done ? `Here ${name} did ${label}, ${clock(there)}` : `${name} did nothing like this`;
  if (there === null) return;
  at("otherhead").style.left = `${(100 * there) / duration}%`;
  const film = video(".st-key-review_other video");
  if (film && !film.seeking && Math.abs(film.currentTime - there) > 0.12) film.currentTime = there;
}

function drawOther() {
  const bar = at("other");
  bar.querySelectorAll(".part").forEach((one) => one.remove());
  for (const [step, start, end] of state.other ? state.other.segments : []) part(bar, { step, start, end }, state.other.duration);
}

// The moment that is shown stays in sight while a zoomed line plays.
function reveal(seconds) {
  const box = at("scroll"), place = (at("bar").clientWidth * seconds) / state.duration;
  if (place < box.scrollLeft || place > box.scrollLeft + box.clientWidth) box.scrollLeft = place - box.clientWidth / 8;
}

// Stills under the line, cut out in the browser by a second player of the same video; made anew for another video or zoom.
function stills() {
  const playing = video(), strip = at("stills");
  const count = Math.max(1, Math.floor(at("bar").clientWidth / STILL_PX));
  const wanted = playing && playing.currentSrc ? `${playing.currentSrc} ${count}` : "";
  strip.hidden = !wanted;
  if (strip.dataset.of === wanted) return;
  strip.dataset.of = wanted;
  strip.replaceChildren();
  if (wanted) cut(strip, playing.currentSrc, count, wanted);
  fit();
}

function cut(strip, source, count, wanted) {
  const cutter = document.createElement("video");
  Object.assign(cutter, { src: source, muted: true, preload: "auto" });
  const places = Array.from({ length: count }, () => strip.appendChild(document.createElement("canvas")));
  let next = 0;
  const seek = () => {
    if (strip.dataset.of !== wanted || next >= count) return cutter.removeAttribute("src");
    cutter.currentTime = Math.min(((next + 0.5) * state.duration) / count, cutter.duration - 0.05);
    return undefined;
  };
  cutter.addEventListener("loadedmetadata", seek);
  cutter.addEventListener("seeked", () => {
    const canvas = places[next];
    [canvas.width, canvas.height] = [Math.round((92 * cutter.videoWidth) / cutter.videoHeight), 92];
    canvas.getContext("2d").drawImage(cutter, 0, 0, canvas.width, canvas.height);
    next += 1;
    seek();
  });
}

function fit() {
  send("streamlit:setFrameHeight", { height: document.body.scrollHeight + 12 });
}

// --- what is changed -------------------------------------------------------------------------------------------

function tidy() {
  const parts = state.parts.filter((one) => one.end - one.start >= LEAST / 2).sort((one, other) => one.start - other.start);
  state.parts = [];
  for (const one of parts) {
    const last = state.parts.at(-1);
    if (last && last.step === one.step && one.start - last.end < 0.02) last.end = one.end;
    else state.parts.push(one);
  }
}

// The frame that is learned from nearest to a moment, or the end: an edge lies nowhere else, so what is drawn is what is saved.
function onFrame(moment, low = 0, high = state.duration) {
  const within = state.edges.filter((one) => low - 0.001 <= one && one <= high + 0.001);
  return within.reduce((best, one) => (Math.abs(one - moment) < Math.abs(best - moment) ? one : best), within[0]);
}

// From `seconds` on it is `step` (0: none of them), until the next edge.
function from(moment, step) {
  const seconds = onFrame(moment);
  const inside = state.parts.find((one) => one.start <= seconds && seconds < one.end);
  const later = state.parts.filter((one) => one.start > seconds).map((one) => one.start);
  const end = inside ? inside.end : Math.min(state.duration, ...later);
  if (inside) inside.end = seconds;
  if (step) state.parts.push({ step, start: seconds, end });
  state.chosen = -1;
  tidy();
  draw();
  tell();
}

function press(step) {
  const chosen = state.parts[state.chosen];
  if (!chosen) return from(now(), step);
  if (step) chosen.step = step; else state.parts.splice(state.chosen, 1);
  state.chosen = -1;
  tidy();
  draw();
  return tell();
}

function key(event) {
  const inField = event.target.closest && event.target.closest("input, textarea, select, [contenteditable], canvas, [role=grid]");
  if (inField || event.altKey) return;
  if (event.ctrlKey || event.metaKey) {
    const turn = { z: event.shiftKey ? redo : undo, y: redo }[event.key.toLowerCase()];
    if (turn) event.preventDefault();
    return turn && turn();
  }
  const named = state.steps.find((one) => one.key === event.key.toLowerCase());
  const actions = {
    " ": toggle, ArrowLeft: () => go(now() - (event.shiftKey ? 0.2 : 1)), ArrowRight: () => go(now() + (event.shiftKey ? 0.2 : 1)),
    ",": () => nudge(-1), ".": () => nudge(1), "[": () => faster(-1), "]": () => faster(1), "/": loop, "-": () => zoom(0.5), "+": () => zoom(2),
    "=": () => zoom(2), 0: () => press(0), b: () => press(0), Delete: () => press(0), Escape: () => { state.chosen = -1; draw(); },
    Enter: () => { state.chosen = state.parts.findIndex((one) => one.start <= now() && now() < one.end); draw(); },
  };
  const act = named ? () => press(named.number) : actions[event.key];
  if (!act || ([" ", "Enter"].includes(event.key) && event.target.closest && event.target.closest("button"))) return; // a button in focus is pressed
  event.preventDefault();
  act();
}

// --- what is drawn ---------------------------------------------------------------------------------------------

function draw() {
  const bar = at("bar");
  bar.querySelectorAll(".part, .edge").forEach((one) => one.remove());
  state.parts.forEach((one, place) => {
    part(bar, one, state.duration).classList.toggle("chosen", place === state.chosen);
    for (const side of ["start", "end"]) edge(bar, one, side, place);
  });
  follow();
}

function part(bar, one, duration) {
  const step = state.steps.find((known) => known.number === one.step) || { label: "?", shade: "#ccc" };
  const made = document.createElement("div");
  made.className = "part";
  made.style.left = `${(100 * one.start) / duration}%`;
  made.style.width = `${(100 * (one.end - one.start)) / duration}%`;
  made.style.background = step.shade;
  made.textContent = step.label;
  made.title = `${step.label}, ${one.start.toFixed(2)} to ${one.end.toFixed(2)} s`;
  bar.append(made);
  if (made.scrollWidth > made.clientWidth || made.scrollHeight > made.clientHeight) made.textContent = one.step; // a word cut in two says less than its number
  return made;
}

// The page's own letters: an iframe has none of them unless it is told where they lie.
function dress(font) {
  document.body.style.setProperty("--font", font);
  if (at("letters")) return;
  const letters = document.createElement("style");
  letters.id = "letters";
  try {
    letters.textContent = [...window.parent.document.styleSheets].flatMap(faces).join("\n");
  } catch { /* another origin: the system's own letters do */ }
  document.head.append(letters);
}

function faces(sheet) {
  const base = sheet.href || window.parent.document.baseURI;
  const whole = (text) => text.replace(/url\("([^"]+)"\)/g, (_, path) => `url("${new URL(path, base)}")`);
  return [...sheet.cssRules].filter((rule) => rule.cssText.startsWith("@font-face")).map((rule) => whole(rule.cssText));
}

function edge(bar, part, side, place) {
  const made = document.createElement("div");
  made.className = "edge";
  made.dataset.place = place;
  made.dataset.side = side;
  made.style.left = `${(100 * part[side]) / state.duration}%`;
  bar.append(made);
}

function chips() {
  at("chips").replaceChildren(...[...state.steps, { number: 0, label: "none of them", shade: "#9aa5a9", key: "0" }].map((step) => {
    const chip = document.createElement("button");
    chip.type = "button";
    chip.className = "chip";
    chip.style.borderLeftColor = step.shade;
    const mark = document.createElement("kbd");
    mark.textContent = step.key;
    chip.append(mark, step.label.startsWith(`${step.key} `) ? step.label.slice(2) : step.label); // the number once
    chip.addEventListener("click", () => press(step.number));
    return chip;
  }));
}

// --- dragging --------------------------------------------------------------------------------------------------

function seconds(event) {
  const box = at("bar").getBoundingClientRect();
  return (state.duration * (event.clientX - box.left)) / box.width;
}

at("bar").addEventListener("pointerdown", (event) => {
  at("bar").setPointerCapture(event.pointerId);
  const grip = event.target.closest(".edge");
  state.drag = grip ? { place: Number(grip.dataset.place), side: grip.dataset.side, moved: false } : { place: -1, moved: false };
});

at("bar").addEventListener("pointermove", (event) => {
  const drag = state.drag;
  if (!drag || drag.place < 0) return;
  drag.moved = true;
  show(move(drag, seconds(event)));
  draw();
});

// The video shows the moment of the edge that is dragged; a video that is still looking for the last one is not asked.
function show(place) {
  state.place = place;
  const playing = video();
  if (!playing) return;
  playing.pause();
  if (!playing.seeking) playing.currentTime = place;
}

// An edge that two steps share moves for both.
function move(drag, wanted) {
  const { parts } = state;
  const part = parts[drag.place];
  const other = drag.side === "start" ? parts[drag.place - 1] : parts[drag.place + 1];
  const touches = other && Math.abs((drag.side === "start" ? other.end : other.start) - part[drag.side]) < 0.02;
  let low = drag.side === "start" ? 0 : part.start + LEAST;
  let high = drag.side === "start" ? part.end - LEAST : state.duration;
  if (other && drag.side === "start") low = touches ? other.start + LEAST : other.end;
  if (other && drag.side === "end") high = touches ? other.end - LEAST : other.start;
  const place = onFrame(wanted, low, high) ?? part[drag.side];
  part[drag.side] = place;
  if (touches) other[drag.side === "start" ? "end" : "start"] = place;
  return place;
}

at("bar").addEventListener("pointerup", (event) => {
  const drag = state.drag;
  state.drag = null;
  if (drag && drag.moved) { go(state.place); tidy(); draw(); tell(); return; }
  const moment = seconds(event);
  const place = state.parts.findIndex((one) => one.start <= moment && moment < one.end);
  state.chosen = place === state.chosen ? -1 : place;
  go(moment);
  draw();
});

// --- from Streamlit --------------------------------------------------------------------------------------------

window.addEventListener("message", (event) => {
  if (event.data.type !== "streamlit:render") return;
  const { args, theme } = event.data;
  if (theme) Object.assign(document.body.style, { color: theme.textColor, background: theme.backgroundColor });
  if (theme && theme.font) dress(theme.font);
  state.duration = Math.max(args.duration, 0.1);
  state.frame = args.frame;
  state.edges = [...args.times, state.duration];
  state.other = args.other || null;
  const letters = [...LETTERS]; // a step keeps its number as its key where others are gone; those from 10 on have letters
  state.steps = args.steps.map(([number, label, shade]) => ({ number, label, shade, key: number < 10 ? String(number) : letters.shift() || "" }));
  if (args.stamp >= state.stamp && !state.drag) {
    // What the page holds is newer than what was drawn here, or the same.
    state.stamp = args.stamp;
    if (JSON.stringify(args.segments) !== state.sent) [state.past, state.future] = [[], []]; // changed elsewhere
    state.parts = args.segments.map(([step, start, end]) => ({ step, start, end }));
    state.told = JSON.stringify(state.parts);
    if (state.chosen >= state.parts.length) state.chosen = -1;
  }
  at("help").textContent = "Drag an edge, or click a step and press another key. While the video plays, a key means: from here to the next edge. "
    + "0 none of them, space play, arrows one second, with shift a fifth, comma and dot one frame, Enter chooses what is shown, Ctrl+Z takes back.";
  chips();
  draw();
  drawOther();
  fit();
});

at("other").addEventListener("click", (event) => {
  const box = at("other").getBoundingClientRect(), here = hereOf((state.other.duration * (event.clientX - box.left)) / box.width);
  if (here !== null) go(here);
});

const BUTTONS = {
  play: toggle, back: () => nudge(-1), on: () => nudge(1), loop, out: () => zoom(0.5), in: () => zoom(2), undo, redo,
};
for (const [id, act] of Object.entries(BUTTONS)) at(id).addEventListener("click", act);
document.querySelectorAll(".speed").forEach((one) => one.addEventListener("click", () => hurry(Number(one.dataset.speed))));
at("scroll").addEventListener("wheel", (event) => {
  if (!event.ctrlKey) return;
  event.preventDefault();
  zoom(event.deltaY < 0 ? 1.25 : 0.8);
}, { passive: false });
document.addEventListener("keydown", key);
try {
  const outside = (event) => key(event);
  window.parent.document.addEventListener("keydown", outside);
  window.addEventListener("pagehide", () => window.parent.document.removeEventListener("keydown", outside));
} catch { /* another origin: keys count while the timeline has the focus */ }
setInterval(follow, 100);
new ResizeObserver(fit).observe(document.body);
send("streamlit:componentReady", { apiVersion: 1 });
