// 6. Accuracy: how rows ended, failures in full, and what the devices cannot run.

import {readFacts} from "./data.js";
import {element, link, note, replaceContent, scrolling} from "./dom.js";
import {groupsOf, groupWords} from "./failures.js";
import {count, plural} from "./format.js";
import {columnWidth} from "./plot.js";
import {changed, rowName} from "./state.js";
import {sortedTable} from "./table.js";

const most = 50;  // groups of failures that are shown

// The order of statuses in a bar.
const order = [
  "PASS", "EXPECTED_FAIL", "SKIPPED", "INVALID", "UNSUPPORTED", "SUSPECT", "MISTRUSTED", "FLAKY",
  "UNEXPECTED_PASS", "FAIL", "TIMEOUT", "OUT_OF_MEMORY", "CRASH", "DEVICE_LOST", "INTERRUPTED", "MISSING"
];

function statusClass(core, status) {
  if (status === "PASS") return "passed";
  return core.statuses[status] === "fine" ? "not-run" : core.statuses[status];
}

function countsOf(rows) {
  const ops = new Map();
  for (const row of rows) {
    if (row.status === "") continue;
    if (!ops.has(row.case.op)) ops.set(row.case.op, new Map());
    const counts = ops.get(row.case.op);
    counts.set(row.status, (counts.get(row.status) || 0) + 1);
  }
  return [...ops].sort(([a], [b]) => (a < b ? -1 : 1));
}

function bar(core, counts, scale, width) {
  const svg = d3.create("svg")
                .attr("width", width)
                .attr("height", 18)
                .attr("viewBox", `0 0 ${width} 18`)
                .attr("aria-hidden", "true");
  let from = 0;
  for (const status of order) {
    const number = counts.get(status) || 0;
    if (number === 0) continue;
    const wide = Math.max(2, scale(number));  // one failure among thousands shows
    svg.append("rect")
      .attr("class", `bar ${statusClass(core, status)}`)
      .attr("x", from)
      .attr("width", wide)
      .attr("y", 1)
      .attr("height", 16)
      .append("title")
      .text(`${status} ${number}`);
    from += wide;
  }
  return svg.node();
}

function words(op, counts) {
  const parts =
    order.filter((status) => counts.get(status) > 0)
      .map((status) => link(changed({op, status, to: "rows"}), `${status} ${count(counts.get(status))}`));
  return element("td", {class: "counts"}, ...parts);
}

function bars(core, rows) {
  const ops = countsOf(rows);
  const width = columnWidth("accuracy", 120, 520);
  const largest = d3.max(ops, ([, counts]) => d3.sum([...counts.values()])) || 1;
  const scale = d3.scaleLinear().domain([0, largest]).range([0, width - 30]);
  const body = ops.map(([op, counts]) => element("tr", {}, element("th", {scope: "row"}, op),
                         element("td", {}, bar(core, counts, scale, width)), words(op, counts)));
  return element("table", {class: "statuses fold"}, element("caption", {}, "How the rows of each op ended"),
    element("thead", {},
      element("tr", {}, ...["op", "rows", "statuses"].map((text) => element("th", {scope: "col"}, text)))),
    element("tbody", {}, ...body));
}

function kinds() {
  return element("ul", {class: "legend"},
    ...[["passed", "PASS"], ["not-run", "not run, with a reason"], ["failing", "failing"],
      ["infrastructure", "infrastructure"]]
      .map(([name, text]) =>
             element("li", {}, element("span", {class: `swatch bar ${name}`, "aria-hidden": "true"}), text)));
}

// A group of failures: what its rows share, its example in full and a link to all its rows.
function failureOf({rows, group}) {
  const example = rows.find((row) => row.case.id === group.example) || rows[0];
  const place = element("div");
  const details = element("details", {
    ontoggle: async () => {
      if (place.firstChild) return;
      const facts = await readFacts(example);
      place.replaceChildren(element("pre", {class: "failure"}, (facts.failure || "").trim()),
        link(changed({row: rowName(example), to: "row"}), "all details"));
    }
  },
    element("summary", {}, ...groupWords(group, example.status), ` on ${example.device.short_name}`), place);
  const all = link(changed({failure: group.name, device: example.device.short_name, to: "rows"}),
    `its ${plural(rows.length, "row")}`);
  return element("div", {class: "failure-group"}, details,
    element("p", {class: "note"}, group.rows > 1 ? "such as " : "", example.case.id,
      group.story ? `: ${group.story}` : "", " – ", all));
}

function failures(rows) {
  const groups = groupsOf(rows);
  const numberOf = (name) =>
    d3.sum(groups.filter((group) => group.rows[0].status_class === name), (group) => group.rows.length);
  const lost = numberOf("infrastructure");
  const title =
    `Failures: ${count(numberOf("failing"))}${lost > 0 ? `, lost or not reached: ${count(lost)}` : ""}`;
  const more = groups.length > most ?
    [note(`and ${plural(groups.length - most, "further kind")}: see the table below.`)] :
    [];
  return element("div", {id: "failures"}, element("h3", {}, title), ...groups.slice(0, most).map(failureOf),
    ...more, ...(groups.length === 0 ? [note("None.")] : []));
}

const notCovered = ["UNSUPPORTED", "SKIPPED", "INVALID", "MISSING", "INTERRUPTED"];

function uncovered(rows) {
  const groups = new Map();
  for (const row of rows) {
    if (!notCovered.includes(row.status)) continue;
    const key = [row.device.short_name, row.case.op, row.case.impl, row.status, row.reason].join("\n");
    if (!groups.has(key)) groups.set(key, {row, number: 0});
    groups.get(key).number += 1;
  }
  return [...groups.values()];
}

function column(name, text, value, numeric) {
  return {
    name,
    text,
    title: text,
    numeric,
    value,
    show: (group) => (numeric ? count(value(group)) : value(group))
  };
}

function uncoveredTable(rows) {
  const groups = uncovered(rows);
  if (groups.length === 0) return note("Every row of the newest runs that matches the filters was run.");
  return sortedTable({
    caption: "Rows that were not run or not finished, by reason",
    file: "not-run.csv",
    rows: groups,
    columns: [
      column("device", "device", (group) => group.row.device.short_name),
      column("op", "op", (group) => group.row.case.op),
      column("impl", "impl", (group) => group.row.case.impl),
      column("status", "status", (group) => group.row.status),
      column("rows", "rows", (group) => group.number, true),
      column("reason", "reason", (group) => group.row.reason),
    ]
  });
}

export function drawAccuracy(core, rows) {
  return replaceContent("accuracy", kinds(), scrolling("How the rows of each op ended", bars(core, rows)),
    failures(rows), element("h3", {}, "What is not covered"), uncoveredTable(rows));
}
