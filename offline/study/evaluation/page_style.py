"""The look of the results page, and the few lines that show and hide bars: nothing is fetched from anywhere."""

from __future__ import annotations

from typing import Final

from offline.study.evaluation.bars import DARK_INK, NO_PARTNER

STYLE: Final = (
    f":root{{--none:{NO_PARTNER};--dark:{DARK_INK}}}"
    + """
:root{--line:#d8d8de;--soft:#f4f4f7;color-scheme:light}
*{box-sizing:border-box}
body{font:15px/1.5 system-ui,sans-serif;color:#1c1c22;max-width:1500px;margin:0 auto;padding:1.5rem}
h1{font-size:1.6rem;margin:0 0 .3rem}
h2{font-size:1.25rem;margin:2.5rem 0 .6rem;padding-top:1rem;border-top:1px solid var(--line)}
h3{font-size:1rem;margin:1.6rem 0 .5rem}
nav a{margin-right:1rem;display:inline-block}
code{overflow-wrap:anywhere}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:.8rem;font-variant-numeric:tabular-nums}
th,td{padding:.15rem .45rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}
th:first-child,td:first-child{text-align:left;position:sticky;left:0;background:#fff}
thead th{background:var(--soft)!important;font-weight:600}
th.group{text-align:center}
.first{border-left:2px solid var(--line)}
tr.floor td{background:#faf6ea}
tr.published td{color:#5a5a66;font-style:italic}
td.best{font-weight:700;text-decoration:underline}
td small{display:block;font-size:.68rem;line-height:1;color:#5a5a66}
ul.notes,ul.legend{margin:.4rem 0;padding-left:1.2rem;font-size:.85rem}
ul.legend{list-style:none;padding:0;columns:20rem;column-gap:1.5rem}
ul.legend li{display:flex;gap:.5rem;align-items:baseline;break-inside:avoid;padding:.1rem 0}
.swatch{flex:none;width:2.2rem;text-align:center;border-radius:2px;font-weight:600;font-size:.75rem}
.hatch{background:repeating-linear-gradient(45deg,#e4e4ea 0 5px,#f7f7fa 5px 10px)}
.choose{display:flex;flex-wrap:wrap;gap:.2rem .9rem;font-size:.85rem;margin:.4rem 0 .8rem}
.choose span{white-space:nowrap}
.choose button{font:inherit;padding:0 .6rem;margin-right:.5rem}
.row{display:grid;grid-template-columns:10.5rem 1fr 5.2rem;gap:.6rem;align-items:center;margin:2px 0;font-size:.8rem}
.row>span{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.row>span:last-child{text-align:right;font-variant-numeric:tabular-nums;color:#5a5a66}
.truth{font-weight:600}
.bar{position:relative;height:18px;border-radius:2px;overflow:hidden;
background:repeating-linear-gradient(45deg,#e4e4ea 0 5px,#f7f7fa 5px 10px)}
.truth .bar{height:24px}
.bar img{position:absolute;inset:0;width:100%;height:100%;image-rendering:pixelated}
.bar b{position:absolute;top:0;bottom:0;display:flex;align-items:center;justify-content:center;
font:600 11px/1 system-ui,sans-serif;color:#fff;overflow:hidden;pointer-events:none}
.bar b.dark{color:var(--dark)}
.recording{content-visibility:auto;contain-intrinsic-size:auto 9rem}
#said{position:fixed;left:0;right:0;bottom:0;margin:0;padding:.4rem 1.5rem;font-size:.9rem;
background:#1c1c22;color:#fff}
.ruler{display:flex;justify-content:space-between;color:#5a5a66;font-size:.7rem}
[hidden]{display:none!important}
@media (max-width:700px){.row{grid-template-columns:6.5rem 1fr 3.7rem;gap:.3rem}body{padding:.8rem}
.bar b.small{font-size:0}
td:first-child{white-space:normal;min-width:8.5rem;max-width:8.5rem}}
"""
)

SCRIPT: Final = """
document.querySelectorAll(".choose").forEach(box => {
  const section = box.parentElement;
  const show = () => box.querySelectorAll("input").forEach(tick => {
    section.querySelectorAll(`.row[data-method="${tick.value}"]`).forEach(row => { row.hidden = !tick.checked; });
  });
  box.addEventListener("change", show);
  box.querySelectorAll("button").forEach(button => button.addEventListener("click", () => {
    box.querySelectorAll("input").forEach(tick => {
      tick.checked = button.value === "all" || (button.value === "usual" && tick.defaultChecked);
    });
    show();
  }));
});

const said = document.getElementById("said");
const pixels = new WeakMap();  // of a bar: its colours, one a column
const read = bar => {
  const picture = bar.querySelector("img");
  if (!picture || !picture.naturalWidth) return [];
  if (!pixels.has(bar)) {
    const canvas = document.createElement("canvas");
    canvas.width = picture.naturalWidth;
    canvas.height = 1;
    const pen = canvas.getContext("2d");
    pen.drawImage(picture, 0, 0);
    const bytes = pen.getImageData(0, 0, canvas.width, 1).data;
    const colour = at => bytes[at + 3] ? `rgb(${bytes[at]}, ${bytes[at + 1]}, ${bytes[at + 2]})` : "";
    pixels.set(bar, Array.from({length: canvas.width}, (_, column) => colour(4 * column)));
  }
  return pixels.get(bar);
};
const meaning = (section, colour) => {
  const swatch = [...section.querySelectorAll(".legend .swatch:not(.hatch)")]
    .find(each => getComputedStyle(each).backgroundColor === colour);
  return swatch ? `${swatch.textContent} ${swatch.nextSibling.textContent}` : "background";
};
const tell = event => {
  const bar = event.target.closest && event.target.closest(".bar");
  const colours = bar ? read(bar) : [];
  said.hidden = !colours.length;
  if (said.hidden) return;
  const box = bar.getBoundingClientRect(), count = colours.length;
  const here = Math.min(count - 1, Math.max(0, Math.floor((event.clientX - box.left) / box.width * count)));
  let start = here, end = here + 1;
  while (start > 0 && colours[start - 1] === colours[here]) start -= 1;
  while (end < count && colours[end] === colours[here]) end += 1;
  const seconds = bar.closest(".recording").dataset.seconds / count;
  const words = meaning(bar.closest("section"), colours[here]);
  said.textContent = `${bar.getAttribute("aria-label")}: ${words}, ` +
    `${(start * seconds).toFixed(1)} to ${(end * seconds).toFixed(1)} s`;
};
document.addEventListener("pointermove", tell);
document.addEventListener("pointerdown", tell);
"""
