// 2. Devices next to each other: ops x devices.

import {choice, element, note, replaceContent, scrolling} from "./dom.js";
import {count, geometricMean, median, percent, plural, times} from "./format.js";
import {change, changed} from "./state.js";

const steps = 6;

// Steps of the colour scale, ascending. Share of the ceiling: higher is better.
const shareLimits = [5, 15, 30, 50, 75];
// Time relative to the best device: lower is better.
const ratioLimits = [1.25, 2, 5, 20, 100];

const measures = {
  share: {
    text: "share of the device's ceiling",
    limits: shareLimits,
    isBetterAbove: true,
    unit: "\u00a0%",
    show: percent
  },
  ratio: {
    text: "time relative to the best device",
    limits: ratioLimits,
    isBetterAbove: false,
    unit: "×",
    show: times
  },
};

// The level of a value, from 0 (worst) to 5 (best).
function level(measure, value) {
  const above = measure.limits.filter((limit) => value > limit).length;
  return measure.isBetterAbove ? above : steps - 1 - above;
}

// For each row, its time relative to the fastest device that has the same case.
function relativeTimes(rows) {
  const best = new Map();
  const devices = new Map();
  for (const row of rows) {
    if (!(row.time_us > 0)) continue;
    best.set(row.case, Math.min(row.time_us, best.get(row.case) || Infinity));
    devices.set(row.case, (devices.get(row.case) || 0) + 1);
  }
  return (row) => (row.time_us > 0 && devices.get(row.case) > 1 ? row.time_us / best.get(row.case) : null);
}

// The value of each op on each device, and the number of rows in it.
function cellsOf(rows, measureName) {
  const read =
    measureName === "ratio" ? relativeTimes(rows) : (row) => (row.time_us > 0 ? row.pct_peak : null);
  const values = new Map();
  for (const row of rows) {
    const value = read(row);
    if (!(value > 0)) continue;
    const key = `${row.case.op}\n${row.device.number}`;
    if (!values.has(key)) values.set(key, []);
    values.get(key).push(value);
  }
  const mean = measureName === "ratio" ? geometricMean : median;
  return (op, device) => {
    const all = values.get(`${op}\n${device.number}`);
    return all ? {value: mean(all), rows: all.length} : null;
  };
}

function cell(op, device, found, measure) {
  if (!found) return element("td", {class: "empty", title: "no timed row to show"}, "–");
  const target = changed({op, device: device.short_name, mode: "perf", to: "rows"});
  return element("td", {class: `heat heat-${level(measure, found.value)}`},
    element("a", {href: target, title: plural(found.rows, "row")}, measure.show(found.value)));
}

function scale(measure) {
  const limits = measure.limits.map((limit) => `${limit}${measure.unit}`);
  const words = ["below", ...measure.limits.map(() => "above")].map(
    (word, place) => `${word} ${place === 0 ? limits[0] : limits[place - 1]}`);
  const levels = words.map((text, place) => [text, measure.isBetterAbove ? place : steps - 1 - place]);
  return element("ul", {class: "legend", "aria-label": "colours"},
    ...levels.map(([text, place]) => element("li", {},
                    element("span", {class: `swatch heat-${place}`, "aria-hidden": "true"}), text)));
}

function table(core, rows, name, measure) {
  const read = cellsOf(rows, name);
  const ops = [...new Set(rows.filter((row) => row.time_us > 0).map((row) => row.case.op))].sort();
  const head = element("tr", {}, element("th", {scope: "col"}, "op"),
    ...core.devices.map((device) => element("th", {scope: "col"}, device.short_name)));
  return element("table", {class: "heat-map"}, element("caption", {}, `Ops and devices: ${measure.text}`),
    element("thead", {}, head),
    element("tbody", {},
      ...ops.map((op) => element("tr", {}, element("th", {scope: "row"}, op),
                   ...core.devices.map((device) => cell(op, device, read(op, device), measure))))));
}

export function drawHeatMap(core, rows, state) {
  const name = state.measure in measures ? state.measure : "share";
  const measure = measures[name];
  const options = Object.keys(measures).map((key) => [key, measures[key].text]);
  const timed = rows.filter((row) => row.time_us > 0).length;
  if (timed === 0) return replaceContent("heat-map", note("No timed row matches the filters."));
  return replaceContent("heat-map", choice("Show", options, name, (value) => change({measure: value})),
    scrolling("Ops and devices", table(core, rows, name, measure)), scale(measure),
    note(name === "ratio" ?
        "Geometric mean over the rows that two or more devices have. 1×: the device is the fastest in all of them." :
        `Median over the op's rows of their share of the ceiling that limits them; ${
          count(timed)} timed rows.`));
}
