// Films with the browser's camera, or lets a phone's own camera do it, and hands the film to the page's field for files.
const KINDS = ["video/mp4;codecs=avc1", "video/webm;codecs=vp8", "video/webm"]
const SLICE_MS = 1000
const LOOK_MS = 200
const PATIENCE_MS = 10000 // for the field, while the page is drawn

const film = (window.guideFilm = window.guideFilm || { recorder: null, stream: null, began: 0, turn: 0 })

function write(root, words) {
  root.querySelector("#film-words").textContent = words
}

function clock(ms) {
  const seconds = Math.floor(ms / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`
}

// The field knows only files that somebody chose: these are chosen here.
function field() {
  return document.querySelector(".st-key-film-files input[type=file]:not(:disabled)")
}

async function hand(file) {
  for (const until = Date.now() + PATIENCE_MS; !field() && Date.now() < until; ) await new Promise((done) => setTimeout(done, LOOK_MS))
  const into = field(), chosen = new DataTransfer()
  if (!into) return false
  chosen.items.add(file)
  into.files = chosen.files
  into.dispatchEvent(new Event("change", { bubbles: true }))
  return true
}

function named(root, suffix) {
  return `${root.querySelector("#film-name").value.trim() || "film"}.${suffix}`
}

function leave() {
  clearInterval(film.timer)
  film.stream?.getTracks().forEach((track) => track.stop())
  Object.assign(film, { recorder: null, stream: null })
}

async function start(root) {
  if (film.isAsking) return // pressed twice: the first camera would never be let go
  film.isAsking = true
  try {
    film.stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment", width: { ideal: 1280 }, height: { ideal: 720 } } })
  } catch (error) {
    write(root, error.name === "NotAllowedError" ? "The camera was not allowed: allow it in the browser and try again." : `No camera can be used (${error.message}): plug one in, or use a phone.`)
    return
  } finally {
    film.isAsking = false
  }
  if (!film.root.isConnected) return leave() // the page was left while the browser asked
  const mimeType = KINDS.find((kind) => MediaRecorder.isTypeSupported(kind))
  const recorder = (film.recorder = new MediaRecorder(film.stream, { mimeType })), parts = []
  recorder.ondataavailable = (event) => parts.push(event.data)
  recorder.onstop = async () => {
    const type = recorder.mimeType.split(";")[0], suffix = type.split("/")[1]
    const made = new File(parts, named(film.root, suffix), { type })
    leave()
    show(film.root)
    write(film.root, "It is being kept …")
    if (!(await hand(made))) write(film.root, "It could not be kept: give the procedure a name first.")
  }
  film.began = Date.now()
  film.recorder.start(SLICE_MS)
  film.timer = setInterval(() => write(film.root, `Filming, ${clock(Date.now() - film.began)}`), 200)
  show(root)
}

function show(root) {
  const isOn = film.recorder !== null, view = root.querySelector("video")
  root.querySelector("#film-start").hidden = isOn || !navigator.mediaDevices
  root.querySelector("#film-stop").hidden = !isOn
  root.querySelector("#film-name").disabled = isOn
  root.querySelector("label.film-app").hidden = isOn || (navigator.mediaDevices && !matchMedia("(pointer: coarse)").matches)
  view.hidden = !isOn
  if (view.srcObject !== film.stream) view.srcObject = film.stream
}

export default function ({ data, parentElement }) {
  if (!data) return undefined
  const root = parentElement, turn = ++film.turn
  film.root = root
  root.querySelector("#film-start").onclick = () => start(root)
  root.querySelector("#film-stop").onclick = () => film.recorder?.stop()
  const app = root.querySelector("#film-app")
  app.onchange = () => app.files[0] && hand(new File([app.files[0]], named(root, app.files[0].name.split(".").pop()), { type: app.files[0].type }))
  const name = root.querySelector("#film-name")
  if (film.proposed !== data.name) [film.proposed, name.value] = [data.name, data.name]
  if (!film.recorder) write(root, "")
  show(root)
  return () => setTimeout(() => turn === film.turn && film.recorder && leave(), 1000) // unless the page is only drawn anew
}
