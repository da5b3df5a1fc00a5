// Tables that can be sorted and saved as CSV, and show many rows in steps.

import {element, saveFile, scrolling} from "./dom.js";
import {count} from "./format.js";

const step = 100;

// A cell as in assay's own CSV files: text that a spreadsheet would evaluate gets an apostrophe in front.
function csvCell(value) {
  let text = value === null || value === undefined ? "" : String(value);
  if (/^'*[=+\-@\t\r]/.test(text) && !Number.isFinite(Number(text))) text = `'${text}`;
  return /[",\r\n]|^ | $/.test(text) ? `"${text.replace(/"/g, "\"\"")}"` : text;
}

export function csvText(columns, rows) {
  const lines = [columns.map((column) => csvCell(column.name))];
  for (const row of rows) lines.push(columns.map((column) => csvCell(column.value(row))));
  return lines.map((line) => `${line.join(",")}\r\n`).join("");
}

function lacks(value) {
  return value === null || value === undefined || value === "";
}

// Absent values come last in both directions.
function comparison(column, direction) {
  return (a, b) => {
    const x = column.value(a);
    const y = column.value(b);
    if (lacks(x) || lacks(y)) return (lacks(x) ? 1 : 0) - (lacks(y) ? 1 : 0);
    if (typeof x === "number" && typeof y === "number") return direction * (x - y);
    return direction * String(x).localeCompare(String(y), "en", {numeric: true});
  };
}

class SortedTable {
  constructor(options) {
    this.options = options;
    this.rows = options.rows;
    this.shown = step;
    this.body = element("tbody");
    this.more = element("button", {type: "button", onclick: () => this.showMore()});
    this.heads = options.columns.map((column) => this.head(column));
    this.table = element("table", {class: "fold"}, element("caption", {}, options.caption),
      element("thead", {class: "sorts"}, element("tr", {}, ...this.heads)), this.body);
    this.fill();
  }

  head(column) {
    const button = element("button",
      {type: "button", class: "sort", title: column.title, onclick: () => this.sort(column)}, column.text);
    return element(
      "th", {scope: "col", class: column.numeric ? "number" : null, "aria-sort": "none"}, button);
  }

  sort(column) {
    const head = this.heads[this.options.columns.indexOf(column)];
    const direction = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    for (const other of this.heads) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
    this.rows = this.rows.slice().sort(comparison(column, direction));
    this.fill();
  }

  showMore() {
    this.shown += step * 10;
    this.fill();
  }

  cell(column, row) {
    const content = column.show(row);
    if (column.isHead) return element("th", {scope: "row"}, content);
    const kind = [column.numeric ? "number" : "", lacks(column.value(row)) ? "none" : ""].join(" ").trim();
    return element("td", {class: kind || null, "data-label": column.text}, content);
  }

  fill() {
    this.body.replaceChildren(
      ...this.rows.slice(0, this.shown)
        .map((row) => element("tr", {}, ...this.options.columns.map((column) => this.cell(column, row)))));
    const left = this.rows.length - this.shown;
    this.more.hidden = left <= 0;
    this.more.textContent = `Show more of ${count(Math.max(0, left))} further rows`;
  }

  save() {
    saveFile(this.options.file, "text/csv", csvText(this.options.columns, this.rows));
  }
}

// `columns`: {name, text, title, numeric, isHead, value(row), show(row)}: `name` is its name in the CSV,
// `text` its heading, `title` the meaning, value() the value for sorting and saving, show() the displayed
// content.
export function sortedTable(options) {
  const table = new SortedTable(options);
  const save = element("button", {type: "button", class: "save", onclick: () => table.save()}, "Save as CSV");
  return element("div", {class: "table"}, scrolling(options.caption, table.table),
    element("div", {class: "buttons"}, table.more, save));
}
