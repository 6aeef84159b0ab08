// Says the page's news once. What was said is remembered by the window: it forgets with a reload, as the page's own count
// does.
export default function ({ data }) {
  if (!data) return;
  Object.assign(window.guideVoice, { say, isTimeForNext, language: data.language }); // for the script of the live numbers
  if (data.muted !== window.guideVoice.isMuted) silence(data.muted);
  if (data.serial <= (window.guideSaid || 0)) return;
  window.guideSaid = data.serial;
  for (const [words, isUrgent, sound] of data.words) say(words, isUrgent, sound);
}
