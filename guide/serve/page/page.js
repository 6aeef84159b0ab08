"use strict";
// Sends camera frames to the server and shows what it says. No library, no other address than the server's own.

const WIDEST = 640; // pixels: the network sees 224, the stored video should still be of use to people
const QUALITY = 0.8;
const WORDS = {
  missed: "Missed", out_of_order: "Out of order", repeated: "Done again", unknown: "Not recognised",
  too_long: "Takes long", too_short: "Very short", stalled: "Standing still",
};
const WRONG_TOKEN = 4401; // it may be right again once the server is started anew, so we keep trying
const LAST_WORDS = { 4400: "", 4409: "Another device took over under this name." };
const query = new URLSearchParams(location.search);
const at = (id) => document.getElementById(id);

const page = {
  socket: null, stream: null, timer: 0, inFlight: 0, rate: 5, mostRate: 15, pause: 1000, isMuted: false, facing: "environment",
  isOver: false, steps: [], alerts: new Map(), questions: new Map(), spoken: "", sentAt: [], delay: null,
};

// --- what is said -----------------------------------------------------------------------------------------------

function speak(text, isUrgent) {
  if (page.isMuted || !window.speechSynthesis) return;
  if (isUrgent) speechSynthesis.cancel();
  const words = new SpeechSynthesisUtterance(text);
  words.lang = "en";
  speechSynthesis.speak(words);
}

function alertTitle(alert) {
  const word = WORDS[alert.kind] || alert.kind.replaceAll("_", " ");
  return alert.kind === "unknown" ? word : `${word}: ${alert.name}`;
}

// --- what is shown ----------------------------------------------------------------------------------------------

function button(text, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.addEventListener("click", act);
  return made;
}

function showAlerts() {
  const grave = { alarm: 2, warning: 1, info: 0 };
  const order = (one, other) => grave[other.severity] - grave[one.severity] || other.id - one.id;
  const cards = [...page.alerts.values()].filter((one) => !one.snoozed).sort(order).map(alertCard);
  at("say").replaceChildren(...cards);
}

function alertCard(alert) {
  const card = document.createElement("article");
  card.className = `alert ${alert.severity}${alert.acknowledged ? " seen" : ""}`;
  card.dataset.kind = alert.kind;
  const title = document.createElement("h2");
  title.textContent = alertTitle(alert);
  const why = document.createElement("p");
  why.className = "small";
  why.textContent = alert.evidence;
  card.append(title, why);
  if (!page.isOver) {
    const row = document.createElement("div");
    if (!alert.acknowledged) row.append(button("Seen", () => act({ kind: "acknowledge", target: alert.id })));
    const isMissed = alert.kind === "missed";
    row.append(button(isMissed ? "It was done" : "False alarm",
      () => act({ kind: isMissed ? "was_done" : "false_alarm", target: alert.id })));
    card.append(row);
  }
  return card;
}

function showQuestion() {
  const question = [...page.questions.values()][0];
  at("question").hidden = !question || page.isOver;
  if (question) {
    at("asked").textContent = question.text;
    at("question").dataset.id = question.id;
  }
}

function showWhere(now) {
  const step = now.step, following = now.next || [];
  const mood = !step ? "" : step.unsure ? ", not sure" : step.starting ? ", just begun" : "";
  at("nowword").textContent = now.paused ? "Paused" : `Now${mood}`;
  at("now").textContent = step ? step.name : now.progress.done.length ? "Between two steps" : "Waiting for the first step";
  at("next").textContent = following.length ? following[0].name : (now.progress.lacking.length ? "–" : "All done");
  at("bar").firstElementChild.style.width = `${Math.round(100 * now.progress.share)}%`;
  const usual = step && step.expected_s ? ` of about ${Math.round(step.expected_s.usual)} s` : "";
  at("took").textContent = step ? `${Math.round(step.elapsed_s)} s${usual}` : "";
  at("clock").textContent = `${Math.floor(now.at / 60)}:${String(Math.floor(now.at % 60)).padStart(2, "0")}`;
  const done = new Set(now.progress.done);
  at("steps").replaceChildren(...page.steps.map((one) => {
    const item = document.createElement("li");
    item.textContent = one.name;
    if (step && step.step === one.step) item.className = "here";
    else if (done.has(one.step)) item.className = "done";
    return item;
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
  for (const id of ["turn", "end", "video", "ahead"]) at(id).hidden = true;
  at("anew").hidden = false;
  at("nowword").textContent = "Ended";
  at("now").textContent = title;
}

// --- what the server says ---------------------------------------------------------------------------------------

const heard = {
  hello(message) {
    Object.assign(page, { rate: message.rate, mostRate: message.most_rate, steps: message.steps, pause: 1000, inFlight: 0, sentAt: [] });
    page.alerts = new Map(message.state.alerts.map((one) => [one.id, one]));
    page.questions = new Map(message.state.questions.map((one) => [one.id, one]));
    showLink("connected", "up");
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
      speak(message.name, false);
    }
  },
  alert(message) {
    const known = page.alerts.get(message.id);
    // One that comes again was snoozed and has woken up, or has grown graver: either way it is to be seen.
    page.alerts.set(message.id, { acknowledged: false, ...known, ...message, snoozed: false });
    if (!known || known.snoozed || known.severity !== message.severity) {
      if (navigator.vibrate) navigator.vibrate(message.severity === "alarm" ? [200, 100, 200] : 150);
      speak(alertTitle(message), true);
    }
    showAlerts();
  },
  resolve(message) {
    page.alerts.delete(message.id);
    page.questions.delete(message.id);
    showAlerts();
    showQuestion();
  },
  question(message) {
    page.questions.set(message.id, message);
    speak(message.text, true);
    showQuestion();
  },
  action(message) {
    const alert = page.alerts.get(message.target);
    if (alert && message.kind === "acknowledge") alert.acknowledged = true;
    if (alert && message.kind === "snooze") alert.snoozed = true;
    if (message.kind === "answer") page.questions.delete(message.target);
    showAlerts();
    showQuestion();
  },
  notice: (message) => showNotice(message.text),
  error: (message) => showNotice(message.text),
  summary(message) {
    const count = page.alerts.size;
    const stand = count ? `${count} alert${count > 1 ? "s stand" : " stands"}` : "No alert stands";
    showEnd(stand, message.problem, "");
    at("took").textContent = `${message.steps} steps were seen.`;
    speak(count ? "Ended. Please look at the alerts." : "Ended. All is well.", false);
    showAlerts();
    showQuestion();
  },
};

// --- the connection ---------------------------------------------------------------------------------------------

function connect() {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const socket = new WebSocket(`${scheme}://${location.host}${location.pathname.replace(/[^/]*$/, "")}frames`);
  socket.binaryType = "arraybuffer";
  page.socket = socket;
  showLink("connecting", "");
  socket.addEventListener("open", () => {
    const hello = { token: query.get("token") || "", client: at("client").value.trim() };
    if (at("person").value.trim()) hello.person = at("person").value.trim();
    if (query.get("bundle")) hello.bundle = query.get("bundle");
    socket.send(JSON.stringify(hello));
  });
  socket.addEventListener("message", (event) => {
    const message = JSON.parse(event.data);
    if (heard[message.type]) heard[message.type](message);
  });
  socket.addEventListener("close", (event) => {
    clearInterval(page.timer);
    if (page.isOver) return;
    if (event.code in LAST_WORDS) {
      showEnd("Not connected", LAST_WORDS[event.code] || at("notice").textContent, "down");
      return;
    }
    showLink("connection lost, trying again", "down");
    if (event.code === WRONG_TOKEN) showNotice("The token is wrong: open the address the server printed.");
    setTimeout(connect, page.pause);
    page.pause = Math.min(2 * page.pause, 8000);
  });
}

function isOpen() {
  return page.socket && page.socket.readyState === WebSocket.OPEN;
}

function act(action) {
  if (isOpen()) page.socket.send(JSON.stringify({ type: "action", ...action }));
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
  speak(" ", false); // browsers let a page speak only after a press of a button
  try {
    await openCamera();
  } catch (error) {
    at("hint").textContent = error.name === "NotAllowedError" ? "The camera was not allowed: allow it in the browser and press Start again." : error.message;
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
  page.isMuted = !page.isMuted;
  if (page.isMuted && window.speechSynthesis) speechSynthesis.cancel();
  at("mute").textContent = page.isMuted ? "Sound off" : "Sound on";
  at("mute").setAttribute("aria-pressed", String(page.isMuted));
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
at("end").addEventListener("click", () => { if (isOpen()) page.socket.send(JSON.stringify({ type: "end" })); });
at("yes").addEventListener("click", () => act({ kind: "answer", target: Number(at("question").dataset.id), answer: true }));
at("no").addEventListener("click", () => act({ kind: "answer", target: Number(at("question").dataset.id), answer: false }));
document.addEventListener("visibilitychange", () => { if (!document.hidden && !at("live").hidden && !page.isOver) stayAwake(); });

function firstName() {
  let name = query.get("client");
  try {
    name = name || localStorage.getItem("client");
  } catch { /* a private window keeps nothing */ }
  return name || `phone-${Math.floor(1000 + 9000 * Math.random())}`;
}

at("client").value = firstName();
