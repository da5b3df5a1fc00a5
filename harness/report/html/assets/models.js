// What a step of a model costs on each device: the sum over its layers of median time × calls.

import {element, link, note, replaceContent, scrolling} from "./dom.js";
import {count, significant, times} from "./format.js";
import {changed, clearFilters} from "./state.js";

// All steps of all devices, each with its device.
function stepsOf(core) {
  const steps = [];
  for (const device of core.devices)
    for (const track of device.tracks)
      for (const step of track.models || []) steps.push(Object.assign({device, kind: track.kind}, step));
  return steps;
}

const isWhole = (step) => step.lacking.length === 0;

// Those that lack the fewest layers first, then the fastest.
function compareSteps(a, b) {
  return a.lacking.length - b.lacking.length || a.us - b.us;
}

function groupBy(items, read) {
  const groups = new Map();
  for (const item of items) {
    const key = read(item);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(item);
  }
  return groups;
}

const isPlain = (step) => step.kind === "plain";

function titleOf(step) {
  const {tokens, context} = step;
  const at = (context ? ` at context ${count(context)}` : "") + (isPlain(step) ? "" : `, ${step.kind}`);
  if (tokens === 0) return `one run${at}`;
  return (tokens === 1 ? "decode, 1 token per step" : `${count(tokens)} tokens per step`) + at;
}

// Groups of steps that can be compared: of equally many tokens at one context, in runs of one kind; those of
// plain runs come first.
function bySize(steps) {
  const groups = groupBy(steps, (step) => `${step.tokens} ${step.context || 0} ${step.kind}`);
  return [...groups.values()].sort(([a], [b]) => a.tokens - b.tokens || (a.context || 0) - (b.context || 0) ||
      isPlain(b) - isPlain(a) || a.kind.localeCompare(b.kind));
}

// Slow models take seconds per token: their rates need digits behind the point.
const rateText = (rate) => (rate < 100 ? significant(rate, 3) : count(Math.round(rate)));

const milliseconds = (us) => significant(us / 1000, 4);

// What an op would gain at its ceilings; null stands for ceilings that were not measured.
const gainOf = (op) => op.gain_us === null ? "ceiling unknown" : `${milliseconds(op.gain_us)} ms to gain`;

const shareOf = (op, step) => `${Math.round(100 * op.us / step.us)} %`;

// The parts of a step by op: a bar whose length is the time, relative to the longest step of the table.
function bar(step, longest) {
  const parts = step.ops.map((op, i) => {
    const words = `${op.op}: ${milliseconds(op.us)} ms of ${op.layers} layers, ` + gainOf(op);
    const part = element("span", {class: "part", title: words});
    part.style.width = `${100 * op.us / longest}%`;
    part.style.background = `var(--kind-${i % 8})`;
    return part;
  });
  return element("span", {
    class: "step-bar",
    role: "img",
    "aria-label": step.ops.map((op) => `${op.op} ${milliseconds(op.us)} ms`).join(", ")
  },
    ...parts);
}

function opsOf(step) {
  if (step.ops.length < 2) return null;
  const words =
    step.ops.map((op) => `${op.op} ${milliseconds(op.us)} ms, ${shareOf(op, step)}, ${gainOf(op)}`);
  return element("div", {class: "note"}, words.join("; "));
}

function lackingOf(step) {
  if (isWhole(step)) return null;
  return element("div", {class: "note"}, `without ${step.lacking.join(", ")}`);
}

function headsOf(tokens) {
  return ["ms per step", "× fastest", "ms at ceilings", tokens === 0 ? "steps/s" : "tokens/s", "layers"];
}

function rowOf(step, fastest, longest) {
  const bound = isWhole(step) ? "" : "≥ ";
  const rate = Math.max(1, step.tokens) * 1e6 / step.us;
  const rows = changed(Object.assign(
    clearFilters(), {model: step.model, mode: "perf", device: step.device.short_name, to: "rows"}));
  const cells = [
    bound + milliseconds(step.us),
    isWhole(step) && fastest > 0 ? times(step.us / fastest) : "",
    step.at_ceilings_us === null ? "unknown" : bound + milliseconds(step.at_ceilings_us),
    (isWhole(step) ? "" : "≤ ") + rateText(rate),
    `${step.layers - step.lacking.length} of ${step.layers}`,
  ];
  return element("tr", {}, element("th", {scope: "row"}, link(rows, step.device.short_name)),
    ...cells.map(
      (text, place) => element("td",
        {class: text === "" ? "number none" : "number", "data-label": headsOf(step.tokens)[place]}, text)),
    element("td", {}, step.setting, bar(step, longest), opsOf(step), lackingOf(step)));
}

function tableOf(model, steps) {
  const sorted = steps.filter((step) => step.us > 0).sort(compareSteps);
  if (sorted.length === 0) return null;
  const fastest = isWhole(sorted[0]) ? sorted[0].us : 0;
  const longest = Math.max(...sorted.map((step) => step.us));
  const caption = `${model}, ${titleOf(sorted[0])}`;
  return scrolling(caption,
    element("table", {class: "fold"}, element("caption", {}, caption),
      element("thead", {},
        element("tr", {}, element("th", {scope: "col"}, "device"),
          ...headsOf(sorted[0].tokens).map((text) => element("th", {scope: "col", class: "number"}, text)),
          element("th", {scope: "col"}, "ops and setting"))),
      element("tbody", {}, ...sorted.map((step) => rowOf(step, fastest, longest)))));
}

function partOf(model, steps, isOpen) {
  const devices = new Set(steps.map((step) => step.device.short_name));
  return element("details", {open: isOpen},
    element("summary", {}, element("b", {}, model), ` on ${[...devices].join(", ")}`),
    ...bySize(steps).map((ofSize) => tableOf(model, ofSize)));
}

// Draws the section, and removes it and its link if no report has a step.
export function drawModels(core) {
  const steps = stepsOf(core);
  if (steps.length === 0) {
    document.getElementById("models").closest("section").remove();
    document.querySelector("nav [data-to=models]").closest("li").remove();
    return;
  }
  const models = [...groupBy(steps, (step) => step.model)].sort(([a], [b]) => a.localeCompare(b));
  replaceContent("models",
    note(
      "A step is the sum over the layers of median time × calls; ops that compute the same layers make a step each. ",
      "“At ceilings” is the sum if each layer reached the ceiling that it is nearer to. Parts of a model without a timed row ",
      "that names a layer are in no sum."),
    ...models.map(([model, ofModel]) => partOf(model, ofModel, models.length === 1)));
}
