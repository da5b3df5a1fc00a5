// 5. One row with all its details.

import {readRow} from "./data.js";
import {element, note, replaceContent, scrolling} from "./dom.js";
import {modeWords} from "./format.js";
import {historyFigures} from "./history.js";
import {planFigure} from "./plan.js";
import {availableWidth} from "./plot.js";
import {samplesFigure} from "./samples.js";
import {change, findRow} from "./state.js";

function statusWord(row) {
  return element("span", {class: `status ${row.status_class}`}, row.status || "not in the newest run");
}

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch (error) {  // the browser may refuse: then the line is selected for Ctrl+C
    getSelection().selectAllChildren(button.previousElementSibling);
    button.textContent = "Press Ctrl+C";
  }
}

function reproLine(repro) {
  const button = element("button", {type: "button", onclick: () => copy(repro, button)}, "Copy");
  return element("p", {class: "repro"}, element("code", {}, repro), button);
}

// The map of errors (docs/glossary.md): its first line describes a tile, then there is one character per
// tile.
function mapFigure(map) {
  const [title, ...lines] = map.trim().split("\n");
  const tiles = lines.filter((line) => /^[.#1-9]+$/.test(line));
  const rest = lines.filter((line) => !/^[.#1-9]+$/.test(line)).join(" ");
  const size = Math.max(6, Math.min(18, Math.floor(640 / Math.max(1, ...tiles.map((line) => line.length)))));
  const width = Math.max(0, ...tiles.map((line) => line.length)) * size;
  const svg = d3.create("svg")
                .attr("class", "map")
                .attr("width", width)
                .attr("height", tiles.length * size)
                .attr("viewBox", `0 0 ${width} ${tiles.length * size}`)
                .attr("role", "img")
                .attr("aria-label", title);
  tiles.forEach((line, y) => [...line].forEach((character, x) => {
    const share = character === "." ? 0 : character === "#" ? 10 : Number(character);
    svg.append("rect")
      .attr("class", `tile share-${share}`)
      .attr("x", x * size)
      .attr("y", y * size)
      .attr("width", size - 1)
      .attr("height", size - 1)
      .append("title")
      .text(share === 0 ? "right" : `${share * 10} % wrong`);
  }));
  return element("figure", {class: "error-map"},
    element("figcaption", {},
      `${title}: empty tiles are right, the darker the more elements are wrong${rest ? ` ${rest}` : ""}`),
    svg.node());
}

function factTable(columns, cells) {
  const known = columns.map((column, place) => [column, cells[place]]).filter(([[name],
    cell]) => cell !== "" && name !== "repro");
  return element("table", {class: "facts fold"}, element("caption", {}, "All columns of the report"),
    element("thead", {},
      element("tr", {},
        ...["column", "value", "unit", "meaning"].map((text) => element("th", {scope: "col"}, text)))),
    element("tbody", {},
      ...known.map(
        ([[name, unit, meaning], cell]) => element("tr", {}, element("th", {scope: "row"}, name),
          element("td", {}, cell), element("td", {}, unit === "text" || unit === "number" ? "" : unit),
          element("td", {}, meaning)))));
}

function verdictPart(row, facts) {
  if (row.verdict === "" && !facts.why) return null;
  const steps = (facts.conditions ||
    []).map(([name, finding]) => element("li", {}, element("b", {}, name), ` ${finding}`));
  return element("details", {open: true},
    element("summary", {}, "Compared with the base: ", element("b", {}, row.verdict || "no verdict"),
      facts.why ? `, ${facts.why}` : ""),
    element("ol", {}, ...steps));
}

function content(core, row, known) {
  const {facts, samples} = known;
  const width = Math.min(900, availableWidth("row-part"));
  const columns = core.fact_columns[row.case.mode === "perf" ? "perf" : "accu"];
  const repro = facts.cells ? facts.cells[columns.findIndex(([name]) => name === "repro")] : "";
  return [
    repro ? reproLine(repro) : null,
    facts.failure ? element("pre", {class: "failure"}, facts.failure.trim()) : null,
    facts.map ? mapFigure(facts.map) : null,
    verdictPart(row, facts),
    row.imprecise ?
      element("p", {class: "imprecise"}, `The time is imprecise: ${row.imprecise}. Do not decide from it.`) :
      null,
    samples ? samplesFigure(samples, width) : null,
    facts.plan ? planFigure(facts.plan, width) : null,
    ...historyFigures(core, row, known.history, known.statusNames, width),
    facts.cells ? scrolling("All columns of the report", factTable(columns, facts.cells)) : null,
  ];
}

function head(row) {
  return [
    element("h3", {id: "row-title", tabindex: "-1"}, row.case.id),
    element("p", {}, statusWord(row), ` ${modeWords(row.case)}, on ${row.device.name} `,
      element("button", {type: "button", id: "close-row", onclick: () => change({row: ""})}, "Close"))
  ];
}

// Resolves when the row is drawn, as its data are read on demand.
export async function drawRow(core, state) {
  if (!state.row)
    return replaceContent(
      "row-part", note("Choose a row: a mark in a chart above, or a line of the table at the end."));
  const row = findRow(core.rows, state.row);
  if (!row) return replaceContent("row-part", note(`This page has no row ${state.row}.`));
  const known = await readRow(row);
  return replaceContent("row-part", ...head(row), ...content(core, row, known));
}
