// The track of a session: steps as blocks in time, alerts above them, a line where the video stands. Everything that
// comes from a session is set as text, never as markup. A click moves the page's video.
const LOOK_EVERY_MS = 200
const LEAST_NAME_PX = 36

function make(tag, className, text) {
  const element = document.createElement(tag)
  element.className = className
  if (text !== undefined) element.textContent = text
  return element
}

function seek(data, at) {
  const video = document.querySelector("video")
  if (!video || !data.clip) return
  video.currentTime = Math.max(0, at - data.clip.start)
  const playing = video.play()
  if (playing) playing.catch(() => {}) // a browser may want a click on the video itself first
}

function place(data, seconds) {
  return `${(100 * Math.min(Math.max(seconds / data.length, 0), 1)).toFixed(3)}%`
}

function clock(seconds) {
  const whole = Math.max(0, Math.round(seconds))
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`
}

function isShown(data, at) {
  return data.clip && at >= data.clip.start - 0.001 && at <= data.clip.end + 0.001
}

function drawBlock(data, block) {
  const element = make(data.clip ? "button" : "div", block.step > 0 ? "block" : "block unknown", block.step > 0 ? block.name : "?")
  const words = `${block.name}, ${clock(block.start)} to ${clock(block.end)}`
  element.title = words
  element.setAttribute("aria-label", words)
  element.style.left = place(data, block.start)
  element.style.width = `calc(${place(data, block.end - block.start)} - 1px)`
  element.style.background = block.colour
  if (block.step > 0) requestAnimationFrame(() => shorten(element))
  if (isShown(data, block.start)) element.onclick = () => seek(data, block.start)
  return element
}

// Of a name that has hardly any room nothing is left to read; the line below and the pointer tell it whole.
function shorten(element) {
  if (element.scrollWidth > element.clientWidth && element.clientWidth < LEAST_NAME_PX) element.textContent = ""
}

function drawMark(data, alert, want) {
  const element = make("button", `mark ${alert.severity}${alert.is_gone ? " gone" : ""}`, alert.mark)
  element.title = `${alert.clock} ${alert.words}`
  element.setAttribute("aria-label", element.title)
  element.style.left = place(data, alert.at)
  element.onclick = () => land(data, alert, want)
  return element
}

// An alert is shown from a little before it; where that lies in another part of the video, the page changes the part.
function land(data, alert, want) {
  if (isShown(data, alert.at)) seek(data, Math.max(alert.at - data.lead, data.clip.start))
  else if (data.has_video) want(alert.at)
}

function drawTicks(data) {
  const axis = make("div", "axis")
  const step = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200].find((s) => data.length / s <= 8) || 14400
  for (let at = 0; at <= data.length * 0.97; at += step) {
    const tick = make("span", "tick", clock(at))
    tick.style.left = place(data, at)
    axis.append(tick)
  }
  return axis
}

function drawTrack(data, want) {
  const box = make("div", "track")
  const marks = make("div", "marks")
  const band = make("div", "band")
  const head = make("div", "head")
  marks.append(...data.alerts.map((alert) => drawMark(data, alert, want)))
  band.append(...data.blocks.map((block) => drawBlock(data, block)))
  if (data.clip) band.append(head)
  const now = make("div", "now", "")
  box.append(...(data.alerts.length ? [marks] : []), band, drawTicks(data), ...(data.clip ? [now] : []))
  const follow = () => {
    const video = document.querySelector("video")
    if (!video || !data.clip) return
    const at = video.currentTime + data.clip.start
    head.style.left = place(data, at)
    const done = data.blocks.filter((block) => block.start <= at && at < block.end).pop()
    const words = `${clock(at)}  ${done ? done.name : "between steps"}`
    if (now.textContent !== words) now.textContent = words
  }
  return [box, follow]
}

function drawAlert(data, alert, want) {
  const card = make("div", `card ${alert.severity}${alert.is_gone ? " gone" : ""}`)
  if (alert.picture) {
    const still = make("img", "still")
    still.src = `data:image/jpeg;base64,${alert.picture}`
    still.alt = alert.words
    card.append(still)
  }
  const words = make("div", "words")
  words.append(make("div", "what", `${alert.mark} ${alert.words}`), make("div", "why", alert.evidence))
  const foot = make("div", "foot")
  if (data.has_video) {
    const button = make("button", "show", `▶ ${alert.clock}`)
    button.setAttribute("aria-label", `Show the moment of: ${alert.words}`)
    button.title = `Play from ${data.lead} s before`
    button.onclick = () => land(data, alert, want)
    foot.append(button)
  } else foot.append(make("span", "when", alert.clock))
  foot.append(make("span", "outcome", alert.outcome))
  words.append(foot)
  card.append(words)
  return card
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component
  const root = parentElement.querySelector(".root")
  const want = (at) => setTriggerValue("wanted", at)
  if (data.kind === "alerts") {
    root.replaceChildren(...data.alerts.map((alert) => drawAlert(data, alert, want)))
    return undefined
  }
  const [box, follow] = drawTrack(data, want)
  root.replaceChildren(box)
  follow()
  const timer = setInterval(follow, LOOK_EVERY_MS)
  return () => clearInterval(timer)
}
