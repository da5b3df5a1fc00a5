// 4. Impls compared: the time of each impl relative to the reference impl, case by case.

import {choice, element, link, note, replaceContent} from "./dom.js";
import {count, digitsOf, micros, significant, times} from "./format.js";
import {columnWidth, kindClass, legend, logTicks, spaced, symbolPath} from "./plot.js";
import {change, changed, rowName} from "./state.js";

const step = 30;  // number of cases that are shown at first

// Rows with equal keys differ only in their impl: same data, forms and cache, on one device, in runs of one
// kind.
function rivalKey(row) {
  const info = row.case;
  return [
    row.device.number, row.track.kind, info.op, info.group || `${info.shape} ${info.params}`, info.name,
    info.forms, info.cache, info.tune
  ].join("\n");
}

function rivals(rows) {
  const groups = new Map();
  for (const row of rows) {
    if (!(row.time_us > 0)) continue;
    const key = rivalKey(row);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(row);
  }
  return [...groups.values()].filter((group) => new Set(group.map((row) => row.case.impl)).size > 1);
}

// The row that the others are compared with: the run's baseline, else impl auto, else the first.
function referenceOf(group) {
  const named = group.map((row) => row.baseline).find((id) => id !== "");
  return group.find((row) => row.case.id === named) || group.find((row) => row.case.impl === "auto") ||
    group[0];
}

// The ratio with its interval: from the rounds in which both were sampled if the run compared them, else
// from the two medians, whose intervals are added.
function ratioOf(row, reference) {
  if (row.ratio > 0 && row.baseline === reference.case.id)
    return {ratio: row.ratio, low: row.ratio_low, high: row.ratio_high};
  const ratio = row.time_us / reference.time_us;
  const slack = row === reference ? 0 : ((row.ci_pct || 0) + (reference.ci_pct || 0)) / 100;
  return {ratio, low: ratio / (1 + slack), high: ratio * (1 + slack)};
}

function compared(group) {
  const reference = referenceOf(group);
  const impls = group.map((row) => Object.assign({row, impl: row.case.impl}, ratioOf(row, reference)));
  return {reference, impls: impls.sort((a, b) => a.ratio - b.ratio)};
}

// A label that distinguishes the case from others of its op.
function label(group) {
  const {id, op, impl, cache} = group.reference.case;
  const name = id.slice(op.length + 1).replace(/\/cold$/, "");
  const short = name.endsWith(`/${impl}`) ? name.slice(0, -impl.length - 1) : name;
  return cache === "" ? short : `${short} (cold)`;
}

function strip(group, x, width, kinds) {
  const svg = d3.create("svg")
                .attr("width", width)
                .attr("height", 26)
                .attr("viewBox", `0 0 ${width} 26`)
                .attr("role", "img")
                .attr("aria-label", group.impls.map((one) => `${one.impl} ${times(one.ratio)}`).join(", "));
  svg.append("line")
    .attr("class", "grid-line")
    .attr("x1", x(1))
    .attr("x2", x(1))
    .attr("y1", 0)
    .attr("y2", 26);
  for (const one of group.impls) {
    const kind = kindClass(kinds.get(one.impl));
    svg.append("line")
      .attr("class", `interval ${kind}`)
      .attr("y1", 13)
      .attr("y2", 13)
      .attr("x1", x(one.low))
      .attr("x2", x(one.high));
    svg.append("path")
      .attr("class", `point ${kind}`)
      .attr("d", symbolPath(kinds.get(one.impl), 60))
      .attr("transform", `translate(${x(one.ratio)},13)`)
      .append("title")
      .text(`${one.impl} ${times(one.ratio)}`);
  }
  return svg.node();
}

function axis(x, width) {
  const svg = d3.create("svg")
                .attr("width", width)
                .attr("height", 24)
                .attr("viewBox", `0 0 ${width} 24`)
                .attr("aria-hidden", "true");
  const some = logTicks(x, width / 50);
  const ticks = some.includes(1) ? some : [...some, 1].sort((a, b) => a - b);
  const digits = digitsOf(ticks);
  const write = (value) => `${significant(value, digits)}×`;
  svg.append("g")
    .attr("class", "axis")
    .attr("transform", "translate(0,22)")
    .call(d3.axisTop(x).tickValues(spaced(x, ticks, ticks.map(write), 1)).tickFormat(write));
  return svg.node();
}

function words(group) {
  return element("td", {},
    ...group.impls.map(
      (one, place) => element("span", {class: "impl"}, place > 0 ? ", " : "",
        link(changed({row: rowName(one.row), to: "row"}), one.impl),
        ` ${one.row === group.reference ? `${micros(one.row.time_us)} µs` : times(one.ratio)}`)));
}

function table(groups, width, kinds) {
  const ratios = [].concat(...groups.map((group) => group.impls.map((one) => [one.low, one.high])))
                   .reduce((all, pair) => all.concat(pair), []);
  const x = d3.scaleLog().domain([Math.min(0.9, d3.min(ratios)), Math.max(1.1, d3.max(ratios))]).range([
    10, width - 10
  ]);
  const head = element("tr", {}, element("th", {scope: "col"}, "case"),
    element("th", {scope: "col"}, element("span", {class: "hidden"}, "time relative to the reference"),
      axis(x, width)),
    element("th", {scope: "col"}, "fastest first; the reference with its time"));
  return element("table", {class: "impls fold"},
    element("caption", {}, "Time of each impl relative to the reference, logarithmic: left of 1× is faster"),
    element("thead", {class: "axes"}, head),
    element("tbody", {},
      ...groups.map((group) => element("tr", {}, element("th", {scope: "row"}, label(group)),
                      element("td", {}, strip(group, x, width, kinds)), words(group)))));
}

function choices(ops, devices, op, device) {
  const pairs = (list) => list.map((name) => [name, name]);
  return element("div", {class: "choices"},
    choice("Op", pairs(ops), op, (value) => change({"impls-op": value})),
    choice("Device", pairs(devices), device, (value) => change({"impls-on": value})));
}

function pick(names, wanted) {
  return names.includes(wanted) ? wanted : names[0];
}

export function drawImpls(core, rows, state) {
  const all = rivals(rows);
  if (all.length === 0)
    return replaceContent("impls", note("No case that matches the filters was timed with two impls."));
  const deviceNames = core.devices.map((device) => device.short_name)
                        .filter((name) => all.some((group) => group[0].device.short_name === name));
  const device = pick(deviceNames, state["impls-on"]);
  const there = all.filter((group) => group[0].device.short_name === device);
  const ops = [...new Set(there.map((group) => group[0].case.op))].sort();
  const op = pick(ops, state["impls-op"]);
  const groups = there.filter((group) => group[0].case.op === op).map(compared);
  const shown = state["impls-all"] ? groups : groups.slice(0, step);
  const names = [...new Set([].concat(...groups.map((group) => group.impls.map((one) => one.impl))))].sort();
  const kinds = new Map(names.map((name, place) => [name, place]));
  const width = columnWidth("impls", 170, 460);
  const more = shown.length < groups.length ?
    element("button", {type: "button", onclick: () => change({"impls-all": "1"})},
      `Show all ${count(groups.length)} cases`) :
    null;
  return replaceContent("impls", choices(ops, deviceNames, op, device),
    legend(names.map((name) => [name, kinds.get(name)])),
    element("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Impls"},
      table(shown, width, kinds)),
    more,
    note(
      "A bar is the interval of the ratio: from the rounds in which both were sampled, if the run compared them ",
      "(--baseline-impl), else the sum of both rows' intervals."));
}
