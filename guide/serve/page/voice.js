// Says words one after the other in the browser's own voice. What is urgent (alerts, questions, the verdict) is never cut
// off: it silences what is not, and waits for what is. Of the rest only the newest waits. The page's own script and the
// dashboard share this file; what is under way is remembered by the window.
const LONGEST_MS = 4000; // a browser that does not tell when it has spoken is not waited for longer than this ...
const LETTER_MS = 120; // ... and this a letter

const NEXT_SHARE = 0.8; // of a step's usual time

window.guideVoice = window.guideVoice || { waiting: [], current: null, isMuted: false, said: [], audio: null, language: "" };

function say(words, isUrgent = false, sound = "") {
  const voice = window.guideVoice;
  if (voice.isMuted || !words) return;
  voice.said = [...voice.said, words].slice(-20);
  if (sound) chime(sound);
  if (!window.speechSynthesis) return;
  voice.waiting = [...voice.waiting.filter((one) => one.isUrgent), { words, isUrgent }];
  if (isUrgent && voice.current && !voice.current.isUrgent) {
    voice.current = null;
    speechSynthesis.cancel();
  }
  sayNext();
}

// A voice of the language, of the same country where there is one; none where the browser has none or tells none.
function voiceFor(language) {
  const plain = (tag) => tag.toLowerCase().replace("_", "-"), wanted = plain(language);
  const found = (speechSynthesis.getVoices?.() || []).filter((one) => plain(one.lang).split("-")[0] === wanted.split("-")[0]);
  return found.find((one) => plain(one.lang) === wanted) || found.find((one) => one.default) || found[0];
}

// What comes next is to be said before the step ends: at its usual time less a fifth, or when the quickest end it.
function isTimeForNext(elapsed, low, usual) {
  return elapsed >= Math.min(NEXT_SHARE * usual, low);
}

function sayNext() {
  const voice = window.guideVoice;
  if (voice.current || !voice.waiting.length) return;
  const one = (voice.current = voice.waiting.shift());
  const spoken = new SpeechSynthesisUtterance(one.words);
  const wanted = voice.language || navigator.language || "en", found = voiceFor(wanted);
  spoken.lang = found ? found.lang : wanted;
  if (found) spoken.voice = found;
  const next = () => {
    clearTimeout(one.timer);
    if (voice.current !== one) return;
    voice.current = null;
    sayNext();
  };
  spoken.onend = spoken.onerror = next;
  one.timer = setTimeout(next, LONGEST_MS + LETTER_MS * one.words.length);
  speechSynthesis.speak(spoken);
}

function silence(isMuted) {
  const voice = window.guideVoice;
  voice.isMuted = isMuted;
  if (!isMuted) return;
  Object.assign(voice, { waiting: [], current: null });
  if (window.speechSynthesis) speechSynthesis.cancel();
}

// Two tones for an alarm, one for anything else.
function chime(sound) {
  const voice = window.guideVoice;
  try {
    voice.audio = voice.audio || new AudioContext();
    (sound === "alarm" ? [880, 660] : [660]).forEach((pitch, place) => {
      const tone = voice.audio.createOscillator(), volume = voice.audio.createGain();
      const begin = voice.audio.currentTime + 0.18 * place;
      tone.frequency.value = pitch;
      volume.gain.setValueAtTime(0.25, begin);
      volume.gain.exponentialRampToValueAtTime(0.001, begin + 0.17);
      tone.connect(volume).connect(voice.audio.destination);
      tone.start(begin);
      tone.stop(begin + 0.17);
    });
  } catch { /* no sound here: the words and the picture stay */ }
}
