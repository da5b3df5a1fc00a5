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

function values(rows, key) {
  const read = {
    status: (row) => row.status,
    failure: (row) => row.failure,
    verdict: (row) => row.verdict,
    device: (row) => row.device.short_name
  }[key] ||
    ((row) => row.case[key]);
  return [...new Set(rows.map(read))].filter((value) => value !== "").sort();
}

function optionsOf(rows, key) {
  const options = values(rows, key).map((value) => [value, value]);
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
  const selects = filterKeys.slice(1)
                    .map((key) => [key, optionsOf(core.rows, key)])
                    .filter(([key, options]) => options.length > 2 || key === "status")
                    .map(([key, options]) => {
                      const label = choice(labels[key], options, "", (value) => change({[key]: value}));
                      label.querySelector("select").id = `filter-${key}`;
                      return label;
                    });
  const clear =
    element("button", {type: "button", id: "clear", onclick: () => change(clearFilters())}, "Clear");
  replaceContent("filters", searchBox(state), ...selects, clear,
    element("output", {id: "matching", "aria-live": "polite"}));
}

// Shows the state in the boxes, and the number of matching rows.
export function showFilters(core, state) {
  const search = document.getElementById("search");
  if (document.activeElement !== search) search.value = state.q || "";
  for (const key of filterKeys.slice(1)) {
    const select = document.getElementById(`filter-${key}`);
    if (select) select.value = state[key] || "";
  }
  const rows = filtered(core.rows, state);
  document.getElementById("matching").textContent =
    `${count(rows.length)} of ${count(core.rows.length)} rows`;
  document.getElementById("clear").disabled = !filterKeys.some((key) => state[key]);
  return rows;
}
