// Follows a session without Streamlit: the server's beats bring numbers, which are written where they stand. Only when
// a beat tells that more has changed is the page asked for anew. Without beats the page is asked for now and then.
const QUIET_MS = 4000
const GAP_MS = 700 // between two drawings: changes often come in twos and threes
const AGAIN_MS = 2000
const CALM_MS = 80
const REOPEN_MS = 10000
const BUSY = "[data-test-script-state=running], [data-test-script-state=rerunRequested]"

const NUMBERS = {
  received: (health) => count(health.received),
  processed: (health) => count(health.processed),
  dropped: (health) => count(health.dropped),
  age_s: (health) => `${health.age_s.toFixed(1)} s`,
  speed: (health) => `${whole(health.p50_ms)} / ${whole(health.p95_ms)} ms`,
}

const count = (value) => value.toLocaleString("en-US")
const whole = (value) => (value === null ? "–" : value.toFixed(0))

function clock(seconds) {
  const all = Math.max(0, Math.floor(seconds))
  const [hours, minutes, rest] = [Math.floor(all / 3600), Math.floor(all / 60) % 60, all % 60]
  const two = (value) => String(value).padStart(2, "0")
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`
}

function write(element, words) {
  if (element && element.textContent !== words) element.textContent = words
}

// A step that is paused stays so until the page is drawn anew.
function writeMood(kept, now, beat) {
  const was = Object.keys(kept.moods).find((mood) => now.classList.contains(mood))
  const mood = beat.unsure ? "unsure" : beat.late ? "late" : "calm"
  if (!was || was === mood) return
  now.classList.replace(was, mood)
  write(now.querySelector(".guide-mood"), kept.moods[mood] && ` · ${kept.moods[mood]}`)
}

function writeStep(kept, now, beat) {
  if (!now.querySelector(".guide-times")) return // it shows no step
  writeMood(kept, now, beat)
  write(now.querySelector(".guide-times b"), `${beat.elapsed_s.toFixed(0)} s`)
  const sure = beat.confidence === null ? "" : ` · ${(100 * beat.confidence).toFixed(0)} %${beat.unsure ? "" : " sure"}`
  write(now.querySelector(".guide-sure"), sure)
  const bar = now.querySelector(".guide-bar")
  if (!bar) return
  const [low, usual, high, longest] = bar.dataset.times.split(" ").map(Number)
  sayNextStep(kept, now, window.guideVoice?.isTimeForNext?.(beat.elapsed_s, low, usual))
  const end = Math.max(1.2 * high, longest, beat.elapsed_s, 1e-6)
  const place = (seconds) => `${((100 * seconds) / end).toFixed(1)}%`
  bar.querySelector("i").style.width = place(beat.elapsed_s)
  Object.assign(bar.querySelector("u").style, { left: place(low), width: place(high - low) })
  bar.querySelector("s").style.left = place(usual)
}

// What comes next is said once for each step, before it ends.
function sayNextStep(kept, now, isTime) {
  const name = now.querySelector(".guide-name").textContent
  const following = document.querySelector(".guide-next[data-say]")
  if (!isTime || !following || kept.hinted === name || !window.guideVoice?.say) return
  kept.hinted = name
  window.guideVoice.say(`Next: ${following.dataset.say}`)
}

// An alert is not kept waiting for a drawing: it takes the place of the step at once, and gives it back where it was
// withdrawn before the page was drawn anew.
function writeAlert(now, loud) {
  const isAlert = now.matches(".alarm, .warning")
  if (loud && !isAlert) {
    now.guideBefore = { className: now.className, parts: [...now.childNodes] }
    now.className = `guide-now ${loud.severity}`
    now.replaceChildren(part("p", "guide-small guide-clock", part("span", "", loud.title), part("b", "", "")), part("div", "guide-name long", loud.todo), part("p", "", loud.reason))
  } else if (!loud && now.guideBefore) {
    now.className = now.guideBefore.className
    now.replaceChildren(...now.guideBefore.parts)
    delete now.guideBefore
  }
}

function part(tag, kind, ...inner) {
  const made = document.createElement(tag)
  made.className = kind
  made.append(...inner)
  return made
}

function writeAll(kept, beat) {
  const card = document.querySelector(".guide-now")
  if (card && !beat.over && beat.mark !== kept.drawn) writeAlert(card, beat.loud)
  write(document.querySelector(".guide-clock b"), clock(beat.at))
  for (const element of document.querySelectorAll(".guide-health b[data-number]")) {
    write(element, NUMBERS[element.dataset.number](beat.health))
  }
  const now = document.querySelector(".guide-now")
  if (now && beat.mark === kept.drawn && beat.elapsed_s !== null) writeStep(kept, now, beat) // else it is of another step
}

// The next beat asks again: where the page is being drawn or is about to be, after a click above all, another drawing
// would delay it, and Streamlit then drops parts of the first that it has not sent yet: they would be gone for a moment.
// Between the two drawings of a click the page looks idle for an instant, so it is looked at twice.
function ask(kept, why) {
  const at = Date.now()
  if (kept.calm || document.querySelector(BUSY)) return
  if (at - kept.askedAt < (why === kept.asked ? AGAIN_MS : GAP_MS)) return
  kept.calm = setTimeout(() => {
    kept.calm = 0
    if (document.querySelector(BUSY) || why === kept.drawn) return
    Object.assign(kept, { asked: why, askedAt: at })
    kept.trigger(`${why} ${at}`)
  }, CALM_MS)
}

function open(kept) {
  kept.openedAt = Date.now()
  kept.source = new EventSource(kept.address)
  kept.source.onmessage = (message) => {
    const beat = JSON.parse(message.data)
    kept.heardAt = Date.now()
    if (beat.over) kept.source.close()
    writeAll(kept, beat)
    if (beat.mark !== kept.drawn) ask(kept, beat.mark)
  }
}

function look(kept) {
  const at = Date.now()
  if (at - kept.heardAt < QUIET_MS) return
  ask(kept, "quiet")
  if (kept.source.readyState === EventSource.CLOSED && at - kept.openedAt > REOPEN_MS) open(kept)
}

// A page that nobody sees needs no pictures; they come again with the page.
function rest() {
  for (const picture of document.querySelectorAll(".guide-picture img")) {
    if (document.hidden && picture.src) {
      picture.dataset.src = picture.src
      picture.removeAttribute("src")
    } else if (!document.hidden && picture.dataset.src) {
      picture.src = picture.dataset.src
      delete picture.dataset.src
    }
  }
}

function start(address) {
  if (window.guideLiveNumbers) stop(window.guideLiveNumbers)
  const kept = { address, turn: 0, heardAt: Date.now(), asked: "", askedAt: 0, calm: 0 }
  kept.timer = setInterval(() => look(kept), 1000)
  document.addEventListener("visibilitychange", rest)
  open(kept)
  window.guideLiveNumbers = kept
  return kept
}

function stop(kept) {
  kept.source.close()
  clearInterval(kept.timer)
  clearTimeout(kept.calm)
  document.removeEventListener("visibilitychange", rest)
  if (window.guideLiveNumbers === kept) delete window.guideLiveNumbers
}

export default function ({ data, setTriggerValue }) {
  if (!data) return undefined
  const kept = window.guideLiveNumbers && window.guideLiveNumbers.address === data.address ? window.guideLiveNumbers : start(data.address)
  Object.assign(kept, { drawn: data.mark, moods: data.moods })
  kept.trigger = (why) => setTriggerValue("changed", why)
  const turn = ++kept.turn
  return () => setTimeout(() => turn === kept.turn && stop(kept), 1000) // unless the page is only drawn anew
}
