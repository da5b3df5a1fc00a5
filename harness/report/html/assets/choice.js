// The bar of filters, which apply to every chart and table below it.

import {choice, element, replaceContent} from "./dom.js";
import {count} from "./format.js";
import {change, clearFilters, filtered, filterKeys, readState} from "./state.js";

const typingPause = 150;  // ms without a key after which the search begins

const labels = {
  op: "Op",
  impl: "Impl",
  status: "Status",
  failure: "Failure",
  verdict: "Verdict",
  mode: "Mode",
  tier: "Tier",
  model: "Model",
  device: "Device"
};

// The values of a key; "" stands for rows without one.
function values(rows, key) {
  const read = {
    status: (row) => row.status,
    failure: (row) => row.failure,
    verdict: (row) => row.verdict,
    device: (row) => row.device.short_name
  }[key] ||
    ((row) => row.case[key]);
  return [...new Set(rows.map(read))].sort();
}

// Whether a filter can tell rows from others.
function divides(rows, key) {
  return key === "status" || values(rows, key).length > 1;
}

function optionsOf(rows, key) {
  const options = values(rows, key).filter((value) => value !== "").map((value) => [value, value]);
  const classes = key === "status" ? [["failing", "all failing"], ["infrastructure", "infrastructure"]] : [];
  return [
    ["", "all"], ...classes.filter(([name]) => rows.some((row) => row.status_class === name)), ...options
  ];
}

// Searches while somebody types, once they pause: drawing thousands of rows takes longer than a key.
function searchBox(state) {
  let timer = 0;
  const search = () => {
    clearTimeout(timer);
    if (input.value !== (readState().q || "")) change({q: input.value});
  };
  const input = element("input", {
    type: "search",
    id: "search",
    value: state.q || "",
    placeholder: "part of an id, or a glob",
    autocomplete: "off",
    spellcheck: "false",
    oninput: () => {
      clearTimeout(timer);
      timer = setTimeout(search, typingPause);
    },
    onchange: search
  });
  return element("label", {class: "choice search"}, element("span", {}, "Search"), input);
}

// Drawn only once, as a redrawn box would lose the focus.
export function drawFilters(core) {
  const state = {};
  const selects = filterKeys.slice(1).map((key) => {
    const label = choice(labels[key], optionsOf(core.rows, key), "", (value) => change({[key]: value}));
    label.querySelector("select").id = `filter-${key}`;
    label.dataset.divides = divides(core.rows, key);
    return label;
  });
  const clear =
    element("button", {type: "button", id: "clear", onclick: () => change(clearFilters())}, "Clear");
  replaceContent("filters", searchBox(state), ...selects, clear,
    element("output", {id: "matching", "aria-live": "polite"}));
}

// Shows a filter's value, even one that no row has: a link can bring it. A filter that cannot tell rows from
// others is shown only while it is set, so that it can be taken off.
function showFilter(key, value) {
  const select = document.getElementById(`filter-${key}`);
  if (![...select.options].some((option) => option.value === value))
    select.append(element("option", {value}, value));
  select.value = value;
  const label = select.closest("label");
  label.hidden = value === "" && label.dataset.divides === "false";
}

// Shows the state in the boxes, and the number of matching rows.
export function showFilters(core, state) {
  const search = document.getElementById("search");
  if (document.activeElement !== search) search.value = state.q || "";
  for (const key of filterKeys.slice(1)) showFilter(key, state[key] || "");
  const rows = filtered(core.rows, state);
  document.getElementById("matching").textContent =
    `${count(rows.length)} of ${count(core.rows.length)} rows`;
  document.getElementById("clear").disabled = !filterKeys.some((key) => state[key]);
  return rows;
}
