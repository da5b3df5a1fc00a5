// 2. Devices next to each other: ops x devices.

import {choice, element, heatTable, note, replaceContent, scrolling} from "./dom.js";
import {count, geometricMean, median, percent, plural, ratioText} from "./format.js";
import {colourBy, ratioLegend, ratioRange} from "./ratio_scale.js";
import {change, changed} from "./state.js";

const levels = [5, 15, 30, 50, 75];  // steps of the colours of shares, in percent

// What must be equal in two rows of a case, as in a pivot (harness/report/devices/pivot.cpp).
const conditions = [
  {
    read: (row) => row.track.kind,
    why: (row, other) => `their runs are of different kinds, ${other.track.kind} and ${row.track.kind}`
  },
  {read: (row) => row.tunables, why: () => "the tunables differ"},
];

const hasPassed = (row) => row.status === "PASS";

// Rows with equal keys measured the same thing.
function keyOf(row) {
  return [row.case.number, ...conditions.map(({read}) => read(row))].join("\n");
}

// Why a row can be compared with none of the others, which are of its case; empty if it can.
function whyNot(row, others) {
  let left = hasPassed(row) ? others.filter(hasPassed) : [];
  if (left.length === 0) return "one of the two did not end with PASS";
  for (const {read, why} of conditions) {
    const equal = left.filter((other) => read(other) === read(row));
    if (equal.length === 0) return why(row, left[0]);
    left = equal;
  }
  return "";
}

function groupBy(rows, read) {
  const groups = new Map();
  for (const row of rows) {
    const key = read(row);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(row);
  }
  return groups;
}

// The rows that can be compared with a row of another device.
function sharedRows(rows) {
  const groups = [...groupBy(rows.filter(hasPassed), keyOf).values()];
  return groups.filter((group) => group.some((row) => row.device !== group[0].device)).flat();
}

// For each reason, a sentence about the rows that are not compared with those of a device.
function notCompared(rows, device) {
  const there = groupBy(rows.filter((row) => row.device === device), (row) => row.case);
  const others = rows.filter((row) => row.device !== device && there.has(row.case));
  const reasons = groupBy(others, (row) => whyNot(row, there.get(row.case)));
  return [...reasons]
    .filter(([why]) => why !== "")
    .map(([why, left]) => `${plural(left.length, "row")} ${
           left.length === 1 ? "is" : "are"} not compared with ${device.short_name}: ${why}.`);
}

// The devices that others can be compared with: those that share the most cases first, then the fastest.
function references(core, common) {
  return core.devices.map((device) => ({device, rows: common.filter((row) => row.device === device)}))
    .filter((one) => one.rows.length > 0)
    .sort((a, b) => b.rows.length - a.rows.length ||
        d3.sum(a.rows, (row) => row.time_us) - d3.sum(b.rows, (row) => row.time_us))
    .map((one) => one.device);
}

// Ratios of times: their geometric mean.
function ratioMeasure(text, read, explained, leftOut) {
  return {text, read, explained, leftOut, mean: geometricMean, show: ratioText, isRatio: true};
}

function timeMeasure(common, device) {
  const there = new Map();
  for (const row of common)
    if (row.device === device) there.set(keyOf(row), row.time_us);
  const isCommon = new Set(common);
  return ratioMeasure(`time / that on ${device.short_name}`,
    (row) => (isCommon.has(row) && there.has(keyOf(row)) ? row.time_us / there.get(keyOf(row)) : null),
    `Geometric mean of time / that on ${device.short_name}, over the rows that both have; above 1 is slower.`,
    (rows) => notCompared(rows, device));
}

const isSuspect = (row) => row.verdict === "SUSPECT";

// A time that cannot be trusted is in no mean, as in a comparison (harness/report/compare/compare.cpp).
const baseMeasure = ratioMeasure("time / that of the base", (row) => (isSuspect(row) ? null : row.over_base),
  "Geometric mean of time / that of the run it is compared with; above 1 is slower.", (rows) => {
    const left = rows.filter((row) => isSuspect(row) && row.over_base > 0).length;
    return left === 0 ? [] : [`${plural(left, "row")} ${left === 1 ? "is" : "are"} SUSPECT and left out.`];
  });

const shareMeasure = {
  text: "share of the device's ceiling",
  read: (row) => row.pct_peak,
  explained: "Median over the op's rows of their share of the ceiling that each is nearer to.",
  leftOut: () => [],
  mean: median,
  show: percent,
  isRatio: false
};

// What can be shown, the most telling first: devices side by side, then before and now, then ceilings.
function measuresOf(core, rows) {
  const common = sharedRows(rows);
  const measures =
    references(core, common).map((device) => [`ratio:${device.short_name}`, timeMeasure(common, device)]);
  if (rows.some((row) => baseMeasure.read(row) > 0)) measures.push(["base", baseMeasure]);
  measures.push(["share", shareMeasure]);
  return new Map(measures);
}

// The value of each op on each device, and the number of rows in it.
function cellsOf(rows, measure) {
  const values = new Map();
  for (const row of rows) {
    const value = measure.read(row);
    if (!(value > 0)) continue;
    const key = `${row.case.op}\n${row.device.number}`;
    if (!values.has(key)) values.set(key, []);
    values.get(key).push(value);
  }
  const cells = new Map();
  for (const [key, all] of values) cells.set(key, {value: measure.mean(all), rows: all.length});
  return cells;
}

function cell(op, device, found, measure, range) {
  if (!found) return element("td", {class: "empty", title: "no timed row to show"}, "–");
  const target = changed({op, device: device.short_name, mode: "perf", to: "rows"});
  const content = element("a", {href: target, title: plural(found.rows, "row")}, measure.show(found.value));
  if (measure.isRatio) return colourBy(element("td", {class: "heat"}, content), range, found.value);
  const level = levels.filter((limit) => found.value > limit).length;
  return element("td", {class: `heat heat-${level}`}, content);
}

function shareLegend() {
  const words = ["below", ...levels.map(() => "above")].map(
    (word, place) => `${word} ${levels[Math.max(0, place - 1)]}\u00a0%`);
  return element("ul", {class: "legend", "aria-label": "colours"},
    ...words.map((text, place) => element(
                   "li", {}, element("span", {class: `swatch heat-${place}`, "aria-hidden": "true"}), text)));
}

function table(core, cells, measure, range) {
  const ops = [...new Set([...cells.keys()].map((key) => key.split("\n")[0]))].sort();
  const cellsIn = (op) =>
    core.devices.map((device) => cell(op, device, cells.get(`${op}\n${device.number}`), measure, range));
  return heatTable(`Ops and devices: ${measure.text}`, "op", core.devices.map((device) => device.short_name),
    ops.map((op) => [op, cellsIn(op)]));
}

// What a measure leaves out. Where no device can be compared with another one, that is said with every
// measure.
function sentences(measures, measure, timed) {
  const compares = [...measures.keys()].some((key) => key.startsWith("ratio:"));
  return [...measure.leftOut(timed), ...(compares ? [] : notCompared(timed, timed[0].device))];
}

export function drawHeatMap(core, rows, state) {
  const timed = rows.filter((row) => row.time_us > 0);
  if (timed.length === 0) return replaceContent("heat-map", note("No timed row matches the filters."));
  const measures = measuresOf(core, timed);
  const name = measures.has(state.measure) ? state.measure : measures.keys().next().value;
  const measure = measures.get(name);
  const options = [...measures].map(([key, one]) => [key, one.text]);
  const cells = cellsOf(timed, measure);
  const range = ratioRange([...cells.values()].map((one) => one.value));
  return replaceContent("heat-map", choice("Show", options, name, (value) => change({measure: value})),
    scrolling("Ops and devices", table(core, cells, measure, range)),
    measure.isRatio ? ratioLegend(range, measure.text) : shareLegend(), note([
      measure.explained, `${count(timed.length)} timed rows.`, ...sentences(measures, measure, timed)
    ].join(" ")));
}
