// Seeded faults: the kill matrix of assay mutate (harness/commands/mutate/fault_page.h).

import {readPart} from "./data.js";
import {element, note, replaceContent, saveFile} from "./dom.js";
import {count, plural} from "./format.js";
import {sortedTable} from "./table.js";

function text(name, title, value, show = value) {
  return {name, text: name.replace(/_/g, " "), title, value, show};
}

function figure(name, title, show = count) {
  const value = (row) => row[name];
  return {name, text: name.replace(/_/g, " "), title, numeric: true, value, show: (row) => show(value(row))};
}

const percentText = (value) => (value === null ? "–" : `${value.toFixed(1)}\u00a0%`);

// Counts by file or by operator, those with the lowest score first.
function scoreTable(what, scores) {
  const columns = [
    Object.assign(text(what, `the faults' ${what}`, (row) => row.name), {isHead: true}),
    Object.assign(figure("percent", "killed / (killed + survived)", percentText), {text: "score"}),
    figure("killed", "a row failed, crashed or hung because of the fault"),
    figure("fragile", "of the killed: only one row shows it, although all ran"),
    figure("survived", "no row that ran showed it"),
    figure("equivalent", "it survived, and the list of equivalent faults says why no row can show it"),
    figure("unchanged", "the optimized SPIR-V is that without the fault"),
    figure("does_not_compile", "it is no program"),
    figure("not_run", "no row on the device uses the code, or the run ended before"),
  ];
  const rank = (row) => (row.percent === null ? 101 : row.percent);
  const rows = scores.slice().sort((a, b) => rank(a) - rank(b) || b.survived - a.survived);
  return element("details", {class: "fault-list"}, element("summary", {}, element("h3", {}, `By ${what}`)),
    sortedTable({caption: `Faults by ${what}`, file: `faults_by_${what}.csv`, rows, columns}));
}

const place = (fault) => `${fault.file}:${fault.line}:${fault.column}`;

// Code is shown as it is; nothing, where a fault only removes or inserts, is shown as a word.
function change(fault) {
  const code = (part) => (part === "" ? "nothing" : element("code", {}, part));
  return element("span", {}, code(fault.before), " → ", code(fault.after));
}

const faultColumns = {
  place: Object.assign(text("place", "file, line and column of the fault", place), {isHead: true}),
  operator: text("operator", "the kind of fault", (fault) => fault.operator),
  change: text("change", "the text before and after", (fault) => `${fault.before} → ${fault.after}`, change),
  ran: Object.assign(figure("rows_ran", "rows that ran and whose SPIR-V the fault changes"), {text: "ran"}),
  left: Object.assign(figure("rows_left", "rows that use the file and did not run"), {text: "left"}),
  killed: text("killed_by", "the row that shows it", (fault) => fault.killed_by),
  reason: text("reason", "why no row can show it", (fault) => fault.reason),
  fault: text("fault", "its id", (fault) => fault.id, (fault) => element("code", {class: "hash"}, fault.id)),
};

// A list of faults, which a click opens if it is not open at first.
function faultList(title, meaning, faults, names, isOpen) {
  const columns = ["place", "operator", "change", ...names, "fault"].map((name) => faultColumns[name]);
  const content = faults.length === 0 ?
    note("None.") :
    sortedTable({caption: meaning, file: `faults_${title.toLowerCase()}.csv`, rows: faults, columns});
  return element("details", {class: "fault-list", open: isOpen && faults.length > 0},
    element("summary", {}, element("h3", {}, `${title}: ${count(faults.length)}`)), content);
}

export function faultSentence(data) {
  return data.all.percent === null ? "No seeded fault was tried." :
                                     `The cases kill ${data.score} seeded faults.`;
}

// Returns what the page knows about faults; null if it knows nothing.
export async function readFaults() {
  return document.getElementById("faults") ? readPart("faults") : null;
}

// `isAlone`: the page has nothing else, and opens the list of survivors.
export function drawFaults(data, isAlone) {
  const {all} = data;
  const others =
    `Not counted: ${plural(all.equivalent, "equivalent fault")}, ${count(all.unchanged)} that change ` +
    `nothing, ${count(all.does_not_compile)} that do not compile, ${count(all.not_run)} that were not run.`;
  replaceContent("faults-part", element("p", {}, faultSentence(data)),
    data.about === "" ? null : note(`Tried ${data.about}`), note(others),
    element("div", {class: "buttons"},
      element("button",
        {type: "button", class: "save", onclick: () => saveFile("kill_matrix.csv", "text/csv", data.csv)},
        "Save the kill matrix as CSV")),
    faultList("Survivors", "Faults that no row showed", data.survivors, ["ran", "left"], isAlone),
    faultList("Fragile", "Faults that only one row shows", data.fragile, ["killed"], false),
    faultList("Equivalent", "Faults that no row can show", data.equivalent, ["reason"], false),
    scoreTable("file", data.files), scoreTable("operator", data.operators));
  for (const node of document.querySelectorAll(".of-faults")) node.hidden = false;
}
