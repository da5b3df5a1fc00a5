// The colours of ratios of times: one colour below 1, another above it, the stronger the farther from 1 on a
// logarithmic scale. Its range is that of the ratios that are shown.

import {element} from "./dom.js";
import {ratioText} from "./format.js";

const least = 1.1;  // the smallest range: scatter within it gets no strong colour
const most = 5;     // the largest: one very slow device does not fade all other colours

// The range of a scale for these ratios: it ends at the farthest from 1, in both directions.
export function ratioRange(ratios) {
  const farthest = Math.max(...ratios.map((ratio) => Math.max(ratio, 1 / ratio)), least);
  return Math.min(most, farthest);
}

const scatter = 0.005;  // what is nearer to 1 has the colour of 1

// The strength of a ratio's colour, from 0 (at 1) to 1 (at the ends of the range). The root makes small
// differences visible next to large ones.
function strength(range, ratio) {
  if (Math.abs(ratio - 1) < scatter) return 0;
  return Math.min(1, Math.sqrt(Math.abs(Math.log(ratio)) / Math.log(range)));
}

// Colours an element by a ratio; style.css mixes the colours.
export function colourBy(node, range, ratio) {
  node.classList.add("ratio", ratio > 1 ? "slower" : "faster");
  node.style.setProperty("--strength", `${(100 * strength(range, ratio)).toFixed(1)}%`);
  return node;
}

// The legend: the ratios at full and at half strength on both sides of 1.
export function ratioLegend(range, what) {
  const half = Math.pow(range, 0.25);
  const item = (ratio, text) => element(
    "li", {}, colourBy(element("span", {class: "swatch", "aria-hidden": "true"}), range, ratio), text);
  return element("ul", {class: "legend", "aria-label": `colours of ${what}`},
    item(1 / range, `${ratioText(1 / range)}${range === most ? " and less" : ""}`),
    item(1 / half, ratioText(1 / half)), item(1, "1×"), item(half, ratioText(half)),
    item(range, `${ratioText(range)}${range === most ? " and more" : ""}`));
}
