// 3. Two nights chosen by hand: the times of each op and model in the nights between them, and the rows that
// changed.

import {readPart} from "./data.js";
import {choice, element, heatTable, link, note, replaceContent, scrolling} from "./dom.js";
import {count, geometricMean, micros, moment, plural, ratioText, runNames} from "./format.js";
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

// For each line, night by night, the geometric mean of its rows' times / those of the first night, and the
// number of rows in it; null without rows.
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
    return known.length > 0 ? {ratio: geometricMean(known), rows: known.length} : null;
  };
  return [...lines.keys()]
    .sort()
    .map((key) => [key.slice(1), places.map((_, column) => mean(lines.get(key), column))])
    .filter(([, means]) => means.some((one) => one !== null));
}

function opTable(lines, names, range) {
  const cell = (mean) => {
    if (mean === null) return element("td", {class: "empty", title: "no row has a time in both nights"}, "–");
    const attributes = {class: "heat", title: plural(mean.rows, "row")};
    return colourBy(element("td", attributes, ratioText(mean.ratio, 3)), range, mean.ratio);
  };
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

const caseColumn = {
  name: "case",
  text: "case",
  title: "id of the case; opens its details",
  isHead: true,
  value: ({row}) => row.case.id,
  show: ({row}) => link(changed({row: rowName(row), to: "row"}), row.case.id)
};

function changeTable(changes, names, dates) {
  const figure = (name, text, title, value, show) =>
    ({name, text, title, numeric: true, value, show: (line) => show(value(line))});
  return sortedTable({
    caption: "Rows that changed, those that changed most first",
    file: "nights.csv",
    rows: changes,
    columns: [
      caseColumn,
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

// The rows that have a time in only one of two nights, with the other one: how they ended there.
function lostTimesOf(timed, from, until, statusNames) {
  const lost = [];
  for (const {row, history} of timed) {
    const [before, after] = [history.t[from], history.t[until]];
    if ((before > 0) === (after > 0)) continue;
    const status = history.s[before > 0 ? until : from];
    lost.push(
      {row, before, after, isEarlier: before > 0, status: status < 0 ? "not there" : statusNames[status]});
  }
  return lost;
}

// "10 FAIL in the later one, 2 not there in the earlier one"
function lostTimeWords(lost) {
  const counts = new Map();
  for (const {isEarlier, status} of lost) {
    const words = `${status} in the ${isEarlier ? "later" : "earlier"} one`;
    counts.set(words, (counts.get(words) || 0) + 1);
  }
  return [...counts].map(([words, number]) => `${count(number)} ${words}`).join(", ");
}

// Rows without a time in one of the nights are in no mean and in no list of changes: a failure must not hide
// there.
function lostTimePart(lost, names, dates) {
  if (lost.length === 0) return null;
  const title = `${plural(lost.length, "row")} ${
    lost.length === 1 ? "has" : "have"} a time in only one of the two nights: ${lostTimeWords(lost)}`;
  const night = (name, place, read, isLost) => {
    const value = (line) => (isLost(line) ? line.status : read(line));
    const show = (line) => (isLost(line) ? line.status : micros(read(line)));
    return {name, text: `µs, ${names[place]}`, title: dates[place], numeric: true, value, show};
  };
  const table = sortedTable({
    caption: "Rows with a time in only one of the two nights",
    file: "nights-lost-times.csv",
    rows: lost,
    columns: [
      caseColumn, night("before", 0, (line) => line.before, (line) => !line.isEarlier),
      night("after", 1, (line) => line.after, (line) => line.isEarlier)
    ]
  });
  return element(
    "details", {class: "lost-times", open: lost.length <= mostOpen}, element("summary", {}, title), table);
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
  const {rows: histories, words: statusNames} = await readPart(`history-${one.device.number}`);
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
  const means = [].concat(...lines.map(([, all]) => all)).filter((mean) => mean !== null);
  const range = ratioRange(means.map((mean) => mean.ratio));
  const pair = [[names[from], names[until]], [runs[from].date, runs[until].date]];
  return replaceContent("nights", head,
    scrolling("Ops and nights", opTable(lines, places.map((place) => names[place]), range)),
    ratioLegend(range, "ratios of times"),
    lostTimePart(lostTimesOf(timed, from, until, statusNames), ...pair),
    changePart(changesOf(timed, from, until), ...pair));
}
