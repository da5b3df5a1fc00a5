// 3. Two nights chosen by hand: the times of each op and model in the nights between them, and the rows that
// changed.

import {readPart} from "./data.js";
import {choice, element, heatTable, link, note, replaceContent, scrolling} from "./dom.js";
import {geometricMean, micros, moment, plural, ratioText, runNames} from "./format.js";
import {colourBy, ratioLegend, ratioRange} from "./ratio_scale.js";
import {change, changed, rowName} from "./state.js";
import {sortedTable} from "./table.js";

const mostNights = 31;   // columns; of more nights, evenly spaced ones are shown
const mostOpen = 30;     // rows that changed: more are folded
const firstNights = 14;  // that the page opens with

// The tracks that have nights to compare: [name, device, track].
function tracksOf(core) {
  const found = [];
  for (const device of core.devices) {
    const several = device.tracks.filter((track) => track.nights.length > 1);
    several.forEach((track, place) => {
      found.push(
        {name: place === 0 ? device.short_name : `${device.short_name} (${place + 1})`, device, track});
    });
  }
  return found;
}

// The chosen places among the nights of a track, the earlier first.
function chosen(core, track, state) {
  const ids = track.nights.map((number) => core.runs[number].id);
  const last = ids.length - 1;
  const place = (id, otherwise) => (ids.includes(id) ? ids.indexOf(id) : otherwise);
  const pair = [place(state.from, Math.max(0, last - firstNights + 1)), place(state.until, last)];
  return pair.sort((a, b) => a - b);
}

// The nights that are shown, with the first and the last.
function placesBetween(from, until) {
  const all = d3.range(from, until + 1);
  if (all.length <= mostNights) return all;
  return d3.range(mostNights).map((n) => from + Math.round(n * (until - from) / (mostNights - 1)));
}

// The lines of the table that a row counts in, with their place: all rows, its model, its op.
function linesOf({model, op}) {
  return [["0", "all rows"], ...(model ? [["1", `model ${model}`]] : []), ["2", op]];
}

// For each line, the geometric means of its rows' ratios: night by night, to the first night.
function meansByLine(timed, places) {
  const lines = new Map();
  for (const {row, history} of timed) {
    const first = history.t[places[0]];
    const ratios =
      places.map((place) => (first > 0 && history.t[place] > 0 ? history.t[place] / first : null));
    for (const [rank, name] of linesOf(row.case)) {
      const key = rank + name;
      if (!lines.has(key)) lines.set(key, []);
      lines.get(key).push(ratios);
    }
  }
  const mean = (all, column) => {
    const known = all.map((ratios) => ratios[column]).filter((ratio) => ratio !== null);
    return known.length > 0 ? geometricMean(known) : null;
  };
  return [...lines.keys()]
    .sort()
    .map((key) => [key.slice(1), places.map((_, column) => mean(lines.get(key), column))])
    .filter(([, means]) => means.some((one) => one !== null));
}

function opTable(lines, names, range) {
  const cell = (ratio) =>
    (ratio === null ? element("td", {class: "empty"}, "–") :
                      colourBy(element("td", {class: "heat"}, ratioText(ratio, 3)), range, ratio));
  return heatTable(`Geometric mean of time / that of ${names[0]}`, "op or model", names,
    lines.map(([name, means]) => [name, means.map(cell)]));
}

// The rows whose time changed by more than the intervals of both nights, those that changed most first.
function changesOf(timed, from, until) {
  const changes = [];
  for (const {row, history} of timed) {
    const [before, after] = [history.t[from], history.t[until]];
    if (!(before > 0 && after > 0)) continue;
    const slack = ((history.c[from] || 0) + (history.c[until] || 0)) / 100;
    const size = Math.abs(Math.log(after / before));
    if (size > Math.log(1 + slack)) changes.push({row, before, after, size});
  }
  return changes.sort((a, b) => b.size - a.size);
}

function changeTable(changes, names, dates) {
  const head = {
    name: "case",
    text: "case",
    title: "id of the case; opens its details",
    isHead: true,
    value: ({row}) => row.case.id,
    show: ({row}) => link(changed({row: rowName(row), to: "row"}), row.case.id)
  };
  const figure = (name, text, title, value, show) =>
    ({name, text, title, numeric: true, value, show: (line) => show(value(line))});
  return sortedTable({
    caption: "Rows that changed, those that changed most first",
    file: "nights.csv",
    rows: changes,
    columns: [
      head,
      figure("ratio", "ratio", `time of ${names[1]} / that of ${names[0]}`,
        (line) => line.after / line.before, (ratio) => ratioText(ratio, 3)),
      figure("before_us", `µs, ${names[0]}`, dates[0], (line) => line.before, micros),
      figure("after_us", `µs, ${names[1]}`, dates[1], (line) => line.after, micros)
    ]
  });
}

function changePart(changes, names, dates) {
  const title = `${plural(changes.length, "row")} changed by more than the intervals of both nights`;
  if (changes.length === 0) return note(`${title}.`);
  return element("details", {open: changes.length <= mostOpen}, element("summary", {}, title),
    changeTable(changes, names, dates));
}

function choices(core, tracks, one, [from, until]) {
  const runs = one.track.nights.map((number) => core.runs[number]);
  const dates = runs.map((run) => run.date);
  const options = runs.map((run) => [run.id, `${moment(run.date, dates)}, ${run.commit}`]);
  const device = choice("Device", tracks.map(({name}) => [name, name]), one.name,
    (value) => change({"nights-on": value, from: "", until: ""}));
  return element("div", {class: "choices"}, ...(tracks.length > 1 ? [device] : []),
    choice("From", options, runs[from].id, (value) => change({from: value, until: runs[until].id})),
    choice("Until", options, runs[until].id, (value) => change({from: runs[from].id, until: value})));
}

export async function drawNights(core, rows, state) {
  const tracks = tracksOf(core);
  for (const node of document.querySelectorAll(".of-nights")) node.hidden = tracks.length === 0;
  if (tracks.length === 0) return null;
  const one = tracks.find(({name}) => name === state["nights-on"]) ||
    tracks.find(({track}) => rows.some((row) => row.track === track)) || tracks[0];
  const [from, until] = chosen(core, one.track, state);
  const {rows: histories} = await readPart(`history-${one.device.number}`);
  const timed = rows.filter((row) => row.track === one.track && histories[row.place].t)
                  .map((row) => ({row, history: histories[row.place]}));
  const head = choices(core, tracks, one, [from, until]);
  if (timed.length === 0 || from === until) {
    return replaceContent("nights", head,
      note(from === until ? "Choose two different nights." : "No timed row matches the filters."));
  }
  const runs = one.track.nights.map((number) => core.runs[number]);
  const names = runNames(runs.map((run) => run.date));
  const places = placesBetween(from, until);
  const lines = meansByLine(timed, places);
  const range = ratioRange([].concat(...lines.map(([, means]) => means)).filter((ratio) => ratio !== null));
  const changes = changesOf(timed, from, until);
  return replaceContent("nights", head,
    scrolling("Ops and nights", opTable(lines, places.map((place) => names[place]), range)),
    ratioLegend(range, "ratios of times"),
    changePart(changes, [names[from], names[until]], [runs[from].date, runs[until].date]));
}
