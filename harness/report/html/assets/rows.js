// The table of all rows that match the filters.

import {element, link, replaceContent} from "./dom.js";
import {micros, modeWords, percent, significant, times} from "./format.js";
import {changed, rowName} from "./state.js";
import {sortedTable} from "./table.js";

function text(name, title, value) {
  return {name, text: name.replace("_", " "), title, value, show: value};
}

function figure(name, heading, title, value, show) {
  return {name, text: heading, title, numeric: true, value, show: (row) => show(value(row))};
}

// Where the machine itself was slower, also the ratio without that.
function overBase(row) {
  const net = row.net_ratio ? `; ${times(row.net_ratio)} without the machine's shift` : "";
  return times(row.over_base) + net;
}

// A time from which nothing should be decided is marked.
function timeOf(row) {
  return row.imprecise ?
    element("span", {class: "imprecise", title: row.imprecise}, `≈ ${micros(row.time_us)}`) :
    micros(row.time_us);
}

const columns = [
  {
    name: "case",
    text: "case",
    title: "id of the case; opens its details",
    isHead: true,
    value: (row) => row.case.id,
    show: (row) => link(changed({row: rowName(row), to: "row"}), row.case.id)
  },
  {
    name: "mode",
    text: "mode",
    title: "accu or perf",
    value: (row) => modeWords(row.case),
    show: (row) => modeWords(row.case)
  },
  text("device", "the device", (row) => row.device.short_name),
  {
    name: "status",
    text: "status",
    title: "how the row ended",
    value: (row) => row.status,
    show: (row) => element("span", {class: `status ${row.status_class}`}, row.status)
  },
  {
    name: "verdict",
    text: "verdict",
    title: "change since the base",
    value: (row) => row.verdict,
    show: (row) => element("span", {class: `verdict ${row.verdict}`}, row.verdict)
  },
  Object.assign(figure("time_us_p50", "µs",
                  "median time of one program; ≈: an imprecise one, from which nothing should be decided",
                  (row) => row.time_us, micros),
    {show: timeOf}),
  figure("ci_pct", "± %", "half width of the median's interval", (row) => row.ci_pct,
    (value) => significant(value, 2)),
  Object.assign(figure("over_base", "vs base", "time / the base's time", (row) => row.over_base, times),
    {show: overBase}),
  figure(
    "gbps", "GB/s", "bytes that must be moved / time", (row) => row.gbps, (value) => significant(value, 3)),
  figure("gops", "GOP/s", "operations / time", (row) => row.gops, (value) => significant(value, 3)),
  figure(
    "pct_peak", "% ceiling", "share of the ceiling that it is nearer to", (row) => row.pct_peak, percent),
  figure("us_to_gain", "µs to gain",
    "time × calls of its layer in a step × (1 - share of the ceiling that it is nearer to)",
    (row) => row.us_to_gain, micros),
  figure("energy_j", "J", "energy of one program (--energy)", (row) => row.energy_j,
    (value) => significant(value, 4)),
  figure("gops_per_joule", "GOP/J", "operations / energy", (row) => row.gops_per_joule,
    (value) => significant(value, 3)),
  figure("power_w", "W", "mean power, idle power included", (row) => row.power_w,
    (value) => significant(value, 3)),
  text("imprecise", "why nothing should be decided from the time", (row) => row.imprecise),
  text("limited_by", "what limits it", (row) => row.limited_by),
  figure("err_over_bound", "error/bound",
    "largest error of an element relative to its accuracy bound; above 1 is wrong",
    (row) => row.err_over_bound, (value) => significant(value, 3)),
  text("reason", "why it did not pass", (row) => row.reason),
];

// Rows with times come first, those with the most time to gain before all others.
function inOrder(rows) {
  const rank = (row) => (row.time_us > 0 ? 0 : 1);
  return rows.slice().sort((a, b) => rank(a) - rank(b) || (b.us_to_gain || 0) - (a.us_to_gain || 0));
}

export function drawRows(rows) {
  const shown = columns.filter((column) => rows.some((row) => {
    const value = column.value(row);
    return value !== null && value !== undefined && value !== "";
  }));
  replaceContent("all-rows",
    sortedTable(
      {caption: "Rows that match the filters", file: "rows.csv", rows: inOrder(rows), columns: shown}));
}
