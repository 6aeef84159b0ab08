// Says words once in the browser's own voice. What was said is remembered by the window: it forgets with a reload, as
// the page's own count does.
export default function ({ data }) {
  if (!data || !window.speechSynthesis) return;
  if (data.muted) window.speechSynthesis.cancel();
  if (data.serial <= (window.guideSaid || 0)) return;
  window.guideSaid = data.serial;
  if (data.muted) return;
  window.guideWords = (window.guideWords || []).concat(data.words).slice(-20);
  window.speechSynthesis.cancel();
  for (const words of data.words) {
    const said = new SpeechSynthesisUtterance(words);
    said.lang = "en";
    window.speechSynthesis.speak(said);
  }
}
