"use strict";
// Sends camera frames to the server and shows what it says. No library, no other address than the server's own.

const WIDEST = 640; // pixels: the network sees 224, the stored video should still be of use to people
const QUALITY = 0.8;
const WRONG_TOKEN = 4401; // it may be right again once the server is started anew, so we keep trying
const LAST_WORDS = { 4400: "", 4409: "Another device took over under this name." };
const MOST_VISITS = 6; // of the order of work; all of them at the end
const CAMERA_WORDS = {
  NotAllowedError: "The camera was not allowed: allow it in the browser and press Start again.",
  NotFoundError: "This device has no camera: plug one in and press Start again, or open the page on a phone.",
  NotReadableError: "Another program uses the camera: close it and press Start again.",
};
const query = new URLSearchParams(location.search);
const at = (id) => document.getElementById(id);

const page = {
  socket: null, stream: null, timer: 0, retry: 0, inFlight: 0, rate: 5, mostRate: 15, pause: 1000, facing: "environment",
  isOver: false, session: "", look: "", words: { answers: {}, late: [], actions: {}, moods: {} }, steps: [], last: "", hinted: null,
  alerts: new Map(), questions: new Map(), actions: [], now: null, sentAt: [], delay: null,
};

// --- what is shown ----------------------------------------------------------------------------------------------

function element(tag, words, kind = "") {
  const made = document.createElement(tag);
  made.textContent = words;
  made.className = kind;
  return made;
}

function button(text, act) {
  const made = element("button", text);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}

const sentence = (words) => words.charAt(0).toUpperCase() + words.slice(1);
const isLoud = (alert) => !page.isOver && !alert.acknowledged && alert.severity !== "info";

function showAlerts() {
  const grave = { alarm: 2, warning: 1, info: 0 };
  const order = (one, other) => one.acknowledged - other.acknowledged || grave[other.severity] - grave[one.severity] || other.id - one.id;
  const standing = [...page.alerts.values()].filter((one) => !one.snoozed).sort(order);
  const loud = standing.find(isLoud);
  at("live").classList.toggle("alerted", Boolean(loud));
  at("loud").hidden = !loud;
  at("loud").className = loud ? loud.severity : "";
  at("loud").replaceChildren(...(loud ? loudParts(loud) : []));
  at("say").replaceChildren(...standing.filter((one) => one !== loud).map(alertCard));
  showUndo();
}

function loudParts(alert) {
  const picture = still(alert.shows, alert.todo);
  return [element("p", alert.title, "small"), element("h2", alert.todo), element("p", alert.reason, "small"), ...answers(alert), ...picture];
}

function alertCard(alert) {
  const card = element("article", "", `alert ${alert.severity}${alert.acknowledged ? " seen" : ""}`);
  card.dataset.kind = alert.kind;
  card.append(element("h2", alert.title), element("p", sentence(alert.evidence), "small"), ...answers(alert));
  return card;
}

// The buttons of an alert, and what each of them means, for whoever asks.
function answers(alert) {
  const fits = { acknowledge: !alert.acknowledged, was_done: alert.kind === "missed", snooze: !alert.snoozed };
  const kinds = Object.keys(page.words.answers).filter((kind) => fits[kind] !== false && (!page.isOver || page.words.late.includes(kind)));
  const row = document.createElement("div");
  row.append(...kinds.map((kind) => button(page.words.answers[kind][0], () => act({ kind, target: alert.id }))));
  const help = document.createElement("details"), list = document.createElement("dl");
  for (const kind of kinds) list.append(...["dt", "dd"].map((tag, place) => element(tag, page.words.answers[kind][place])));
  help.append(element("summary", "What do these mean?"), list);
  return kinds.length ? [row, help] : [];
}

function still(step, words) {
  const known = page.steps.find((one) => one.step === step);
  if (!known || !known.stills) return [];
  const picture = document.createElement("img");
  picture.src = stillAddress(step);
  picture.alt = `${words}, as it was done`;
  return [picture];
}

const stillAddress = (step) => `sessions/${page.session}/stills/${step}/1?look=${page.look}`;

function showQuestion() {
  const question = [...page.questions.values()][0];
  at("question").hidden = !question;
  if (question) {
    at("asked").textContent = question.text;
    at("question").dataset.id = question.id;
  }
}

// What was done last and counts, to be taken back; when all is over, only answers can be.
function showUndo() {
  const gone = new Set();
  for (const one of [...page.actions].reverse()) if (one.kind === "undo" && !gone.has(one.number)) gone.add(one.target);
  const kinds = (one) => !["undo", "pause", "resume"].includes(one.kind) && (!page.isOver || page.words.late.includes(one.kind));
  const last = page.actions.filter((one) => kinds(one) && !gone.has(one.number)).at(-1);
  at("undo").hidden = !last;
  if (!last) return;
  const told = { true: " yes", false: " no", null: "" }[String(last.answer ?? null)];
  at("did").textContent = `${page.words.actions[last.kind] || last.kind}${told}`;
  at("back").dataset.number = last.number;
}

function showWhere(now) {
  page.now = now;
  const step = now.step, following = (now.next || [])[0], { moods } = page.words;
  const isLate = step && step.expected_s && step.elapsed_s > step.expected_s.high;
  const mood = now.paused ? "paused" : !step ? (page.last ? "rest" : "calm") : step.unsure ? "unsure" : step.starting ? "starting" : isLate ? "late" : "calm";
  if (step) page.last = step.name;
  at("nowword").textContent = ["Now", moods[mood]].filter(Boolean).join(" · ");
  at("now").textContent = step ? step.name : page.last || "Waiting for the first step";
  at("next").textContent = following ? following.name : (now.progress.lacking.length ? "–" : "All steps done");
  showNextPicture(following);
  showTimes(step, isLate);
  sayNextStep(step, following);
  at("clock").textContent = `${Math.floor(now.at / 60)}:${String(Math.floor(now.at % 60)).padStart(2, "0")}`;
  showSteps(now.progress, step && step.step);
  showVisits(now.timeline);
}

function showNextPicture(following) {
  const known = following && page.steps.find((one) => one.step === following.step);
  const address = known && known.stills ? stillAddress(following.step) : "";
  at("how").hidden = !address;
  if (address && at("how").getAttribute("src") !== address) {
    at("how").src = address;
    at("how").alt = `${following.name}, as it was done`;
  }
}

function showTimes(step, isLate) {
  const times = step && step.expected_s;
  at("bar").hidden = !times;
  at("bar").className = isLate ? "late" : "";
  if (times) at("bar").firstElementChild.style.width = `${Math.min(100, Math.round((100 * step.elapsed_s) / Math.max(times.high, 0.1)))}%`;
  at("took").textContent = step ? `${Math.round(step.elapsed_s)} s${times ? `, usually ${Math.round(times.usual)} s` : ""}` : "";
}

const said = ({ step, name }) => page.steps.find((one) => one.step === step)?.say || name;

// Before the step ends, once for each step.
function sayNextStep(step, following) {
  const times = step && step.expected_s;
  if (!times || !following || page.hinted === step.step || !isTimeForNext(step.elapsed_s, times.low, times.usual)) return;
  page.hinted = step.step;
  say(`Next: ${said(following)}`);
}

function showSteps(progress, here) {
  const done = new Set(progress.done), flagged = new Map();
  for (const one of page.alerts.values()) flagged.set(one.step, one.kind);
  const kept = progress.done.filter((one) => one !== here).length;
  const count = page.isOver ? progress.done.length : kept;
  at("count").textContent = `${count} of ${progress.total} steps done`;
  at("share").firstElementChild.style.width = `${Math.round((100 * count) / Math.max(progress.total, 1))}%`;
  at("steps").replaceChildren(...page.steps.map((one) => {
    const kind = flagged.get(one.step), isMissed = kind === "missed" || (page.isOver && progress.lacking.includes(one.step));
    const standing = isMissed && !done.has(one.step) ? "missed" : here === one.step ? "here"
      : ["out_of_order", "repeated"].includes(kind) ? kind : done.has(one.step) ? "done" : "";
    return element("li", one.name, standing);
  }));
}

// The newest turns of work as they happened, as on the dashboard: a step done again stands there again.
function showVisits(visits) {
  const wrong = new Set([...page.alerts.values()].filter((one) => one.kind === "out_of_order").map((one) => one.step));
  at("visits").replaceChildren(...visits.slice(page.isOver ? 0 : -MOST_VISITS).map((one) => {
    const isOpen = one.end === null && !page.isOver, known = page.steps.find((each) => each.step === one.step);
    const sign = one.again ? "↻ " : isOpen ? "▶ " : wrong.has(one.step) ? "⇅ " : "";
    const row = element("li", `${sign}${one.name} `), time = isOpen ? "now" : `${Math.round(one.busy_s)} s`;
    row.style.borderLeftColor = known ? known.colour : "transparent";
    row.append(element("small", one.again ? `again, ${time}` : time));
    return row;
  }));
}

function showLink(text, kind) {
  at("link").textContent = text;
  at("link").className = kind;
}

function showNotice(text) {
  at("notice").textContent = text;
}

function showEnd(title, why, kind) {
  page.isOver = true;
  stop();
  showLink("ended", kind);
  showNotice(why);
  for (const id of ["end", "camera", "ahead", "sure", "bar"]) at(id).hidden = true;
  at("anew").hidden = false;
  at("nowword").textContent = "Ended";
  at("now").textContent = title;
  at("took").textContent = "";
}

// --- what the server says ---------------------------------------------------------------------------------------

const heard = {
  hello(message) {
    Object.assign(page, {
      rate: message.rate, mostRate: message.most_rate, steps: message.steps, session: message.session, look: message.look,
      words: message.words, actions: message.state.actions, pause: 1000, inFlight: 0, sentAt: [],
    });
    window.guideVoice.language = message.state.language;
    at("what").textContent = message.state.bundle;
    page.alerts = new Map(message.state.alerts.map((one) => [one.id, one]));
    page.questions = new Map(message.state.questions.map((one) => [one.id, one]));
    showLink("connected", "up");
    showNotice("");
    showWhere(message.state);
    showAlerts();
    showQuestion();
    // Half as fast again as the server looks: it takes the first frame after each of its ticks, ours waver.
    clearInterval(page.timer);
    page.timer = setInterval(sendFrame, 1000 / Math.min(1.5 * page.rate, 0.9 * page.mostRate));
  },
  ack(message) {
    page.inFlight = Math.max(0, page.inFlight - 1);
    const sent = page.sentAt.shift();
    if (message.fate === "seen" && sent) {
      page.delay = performance.now() - sent;
      showLink(`${Math.round(page.delay)} ms`, "up");
    }
  },
  now: showWhere,
  step(message) {
    if (message.state === "confirmed" && message.step > 0 && page.spoken !== message.name) {
      page.spoken = message.name;
      page.hinted = page.hinted === message.step ? page.hinted : null;
      say(said(message));
    }
  },
  alert(message) {
    const known = page.alerts.get(message.id);
    // One that comes again was snoozed and has woken up, or has grown graver: either way it is to be seen.
    page.alerts.set(message.id, { acknowledged: false, ...known, ...message, snoozed: false });
    if (!known || known.snoozed || known.severity !== message.severity) {
      if (navigator.vibrate) navigator.vibrate(message.severity === "alarm" ? [200, 100, 200] : 150);
      say(message.spoken, true, message.severity);
    }
    showAlerts();
    refreshSteps();
  },
  resolve(message) {
    page.alerts.delete(message.id);
    page.questions.delete(message.id);
    showAlerts();
    showQuestion();
    refreshSteps();
  },
  question(message) {
    page.questions.set(message.id, message);
    say(message.text, true);
    showQuestion();
  },
  action(message) {
    page.actions.push(message);
    const alert = page.alerts.get(message.target);
    if (alert && message.kind === "acknowledge") alert.acknowledged = true;
    if (alert && message.kind === "snooze") alert.snoozed = true;
    const taken = message.kind === "undo" && page.actions.find((one) => one.number === message.target);
    const unseen = taken && taken.kind === "acknowledge" && page.alerts.get(taken.target);
    if (unseen) unseen.acknowledged = false;
    if (message.kind === "answer") page.questions.delete(message.target);
    showAlerts();
    showQuestion();
  },
  notice: (message) => showNotice(message.text),
  error: (message) => showNotice(message.text),
  summary(message) {
    const isNew = !page.isOver;
    showEnd(message.ending.words, message.problem, "");
    at("step").className = message.ending.kind;
    if (isNew) say(`${message.ending.words}.`, true);
    page.now = { ...page.now, step: null, progress: message.progress, timeline: message.timeline };
    refreshSteps();
    showAlerts();
    showQuestion();
  },
};

function refreshSteps() {
  if (!page.now) return;
  showSteps(page.now.progress, page.now.step && page.now.step.step);
  showVisits(page.now.timeline);
}

// --- the connection ---------------------------------------------------------------------------------------------

function connect() {
  clearTimeout(page.retry);
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const socket = new WebSocket(`${scheme}://${location.host}${location.pathname.replace(/[^/]*$/, "")}frames`);
  socket.binaryType = "arraybuffer";
  page.socket = socket;
  showLink("connecting", "");
  socket.addEventListener("open", () => {
    const hello = { token: query.get("token") || "", client: at("client").value.trim(), stay: true };
    if (at("person").value.trim()) hello.person = at("person").value.trim();
    if (at("bundle").value || query.get("bundle")) hello.bundle = at("bundle").value || query.get("bundle");
    socket.send(JSON.stringify(hello));
  });
  socket.addEventListener("message", (event) => {
    const message = JSON.parse(event.data);
    if (heard[message.type]) heard[message.type](message);
  });
  socket.addEventListener("close", (event) => {
    if (socket !== page.socket) return; // a newer one is under way
    clearInterval(page.timer);
    if (page.isOver) {
      for (const one of document.querySelectorAll("#say button, #question button, #undo button")) one.disabled = true;
      return;
    }
    if (event.code in LAST_WORDS) {
      showEnd("Not connected", LAST_WORDS[event.code] || at("notice").textContent, "down");
      return;
    }
    showLink("connection lost, trying again", "down");
    if (event.code === WRONG_TOKEN) showNotice("The token is wrong: open the address the server printed.");
    page.retry = setTimeout(connect, page.pause);
    page.pause = Math.min(2 * page.pause, 8000);
  });
}

function isOpen() {
  return page.socket && page.socket.readyState === WebSocket.OPEN;
}

// The network is back, or the page is looked at again: no need to wait for the next try.
function hurry() {
  if (at("live").hidden || page.isOver || isOpen() || (page.socket && page.socket.readyState === WebSocket.CONNECTING)) return;
  page.pause = 1000;
  connect();
}

function act(action) {
  if (isOpen()) page.socket.send(JSON.stringify({ type: "action", ...action }));
  else showNotice("Not connected: try again in a moment.");
}

// --- the camera -------------------------------------------------------------------------------------------------

const canvas = document.createElement("canvas");

async function openCamera() {
  if (!navigator.mediaDevices) {
    throw new Error("The browser gives no camera to this address: it must begin with https (start the server with --tls auto).");
  }
  if (page.stream) page.stream.getTracks().forEach((track) => track.stop());
  const wanted = { facingMode: page.facing, width: { ideal: 1280 }, height: { ideal: 720 } };
  page.stream = await navigator.mediaDevices.getUserMedia({ video: wanted, audio: false });
  at("video").srcObject = page.stream;
  await at("video").play();
}

async function sendFrame() {
  const video = at("video");
  if (!isOpen() || page.inFlight >= 2 || !video.videoWidth || page.socket.bufferedAmount > 1e6) return;
  page.inFlight += 1;
  const stamp = (performance.timeOrigin + performance.now()) / 1000;
  const socket = page.socket;
  const blob = await picture(video);
  if (!blob || socket !== page.socket || !isOpen()) {
    page.inFlight = Math.max(0, page.inFlight - 1);
    return;
  }
  const message = new Uint8Array(8 + blob.size);
  new DataView(message.buffer).setFloat64(0, stamp, true);
  message.set(new Uint8Array(await blob.arrayBuffer()), 8);
  page.sentAt.push(performance.now());
  socket.send(message);
}

function picture(video) {
  const scale = Math.min(1, WIDEST / video.videoWidth);
  canvas.width = Math.round(video.videoWidth * scale);
  canvas.height = Math.round(video.videoHeight * scale);
  canvas.getContext("2d").drawImage(video, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/jpeg", QUALITY));
}

function stop() {
  clearInterval(page.timer);
  if (page.stream) page.stream.getTracks().forEach((track) => track.stop());
}

async function stayAwake() {
  try {
    if (navigator.wakeLock) await navigator.wakeLock.request("screen");
  } catch {
    showNotice("The screen may go dark: this browser does not let a page keep it on.");
  }
}

// --- the buttons ------------------------------------------------------------------------------------------------

at("start").addEventListener("submit", async (event) => {
  event.preventDefault();
  at("hint").textContent = "";
  chime("ready"); // browsers let a page make sounds only after a press of a button
  try {
    await openCamera();
  } catch (error) {
    at("hint").textContent = CAMERA_WORDS[error.name] || error.message;
    return;
  }
  try {
    localStorage.setItem("client", at("client").value.trim());
  } catch { /* a private window keeps nothing */ }
  at("start").hidden = true;
  at("live").hidden = false;
  stayAwake();
  connect();
});
at("mute").addEventListener("click", () => {
  silence(!window.guideVoice.isMuted);
  const { isMuted } = window.guideVoice;
  at("mute").textContent = isMuted ? "Sound is off" : "Sound is on";
  at("mute").setAttribute("aria-pressed", String(isMuted));
});
at("turn").addEventListener("click", async () => {
  page.facing = page.facing === "environment" ? "user" : "environment";
  try {
    await openCamera();
  } catch (error) {
    showNotice(error.message);
  }
});
at("anew").addEventListener("click", () => location.reload());
at("end").addEventListener("click", () => { // pressed again, the question stays: it may be out of sight
  at("sure").hidden = false;
  at("sure").scrollIntoView({ block: "nearest" });
});
at("stay").addEventListener("click", () => { at("sure").hidden = true; });
at("really").addEventListener("click", () => {
  at("sure").hidden = true;
  if (isOpen()) page.socket.send(JSON.stringify({ type: "end" }));
});
at("yes").addEventListener("click", () => act({ kind: "answer", target: Number(at("question").dataset.id), answer: true }));
at("no").addEventListener("click", () => act({ kind: "answer", target: Number(at("question").dataset.id), answer: false }));
at("back").addEventListener("click", () => act({ kind: "undo", target: Number(at("back").dataset.number) }));
window.addEventListener("online", hurry);
document.addEventListener("visibilitychange", () => {
  if (document.hidden || at("live").hidden || page.isOver) return;
  stayAwake();
  hurry();
});

function firstName() {
  let name = query.get("client");
  try {
    name = name || localStorage.getItem("client");
  } catch { /* a private window keeps nothing */ }
  return name || `phone-${Math.floor(1000 + 9000 * Math.random())}`;
}

// Where the server has several procedures, one is chosen; the address may name it already.
async function offerProcedures() {
  const answer = await fetch(`bundles?token=${encodeURIComponent(query.get("token") || "")}`);
  if (!answer.ok) return;
  const { bundles, default: usual } = await answer.json();
  at("bundle").replaceChildren(...bundles.map((name) => new Option(name, name, false, name === (query.get("bundle") || usual))));
  at("procedures").hidden = bundles.length < 2;
  at("procedure").textContent = bundles.length < 2 ? `Procedure: ${bundles.join("")}` : "";
}

at("client").value = firstName();
offerProcedures().catch(() => { /* the server's usual one is taken then */ });
