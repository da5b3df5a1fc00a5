// 1. The verdict: that on the night, and the newest run of each device compared with its base.

import {element, hash, link, note, replaceContent} from "./dom.js";
import {groupsOf, groupWords} from "./failures.js";
import {count, moment, plural, seconds} from "./format.js";
import {periodParts} from "./periods.js";
import {clearFilters, fragment, rowName} from "./state.js";

// Verdicts that are always shown, and others that are shown if there are any.
const always = ["SLOWER", "BROKEN", "FASTER"];
const others = ["GONE", "NEW", "DRIFTED", "SUSPECT", "AMBIGUOUS", "ENVIRONMENT", "SAME"];
const tones = {
  SLOWER: "bad",
  BROKEN: "bad",
  GONE: "bad",
  SUSPECT: "bad",
  DRIFTED: "bad",
  FASTER: "good",
  NEW: "good"
};

function tile(number, text, state, tone) {
  const content = [element("b", {}, count(number)), ` ${text}`];
  const attributes = {class: `tile ${number > 0 ? tone : ""}`};
  if (number === 0) return element("li", attributes, ...content);
  return element(
    "li", attributes, link(fragment(Object.assign(clearFilters(), state, {to: "rows"})), ...content));
}

function tiles(device, rows) {
  const named = {device: device.short_name};
  const failing = rows.filter((row) => row.status_class === "failing").length;
  const lost = rows.filter((row) => row.status_class === "infrastructure").length;
  const list =
    [tile(failing, failing === 1 ? "failure" : "failures", Object.assign({status: "failing"}, named), "bad")];
  if (lost > 0)
    list.push(tile(lost, "lost or not reached", Object.assign({status: "infrastructure"}, named), "bad"));
  if (!device.tracks.some((track) => track.base)) return list;
  const verdicts = d3.nest().key((row) => row.verdict).rollup((group) => group.length).object(rows);
  for (const verdict of [...always, ...others]) {
    const number = verdicts[verdict] || 0;
    if (number === 0 && !always.includes(verdict)) continue;
    list.push(tile(number, verdict, Object.assign({verdict}, named), tones[verdict] || ""));
  }
  return list;
}

function term(name, ...content) {
  return [element("dt", {}, name), element("dd", {}, ...content)];
}

function commitOf(run) {
  return run.version.includes("+") ? run.version.slice(run.version.indexOf("+") + 1) : run.version;
}

function driverOf(run) {
  return [run.device.driver_name, run.device.driver_info].filter((text) => text).join(" ");
}

// A field that has its initial value may be absent.
function circumstances(track) {
  const run = Object.assign({device: {}, version: "", started_utc: ""}, track.run);
  const dates = [run.started_utc, track.base ? track.base.date : ""];
  const terms = [
    ...term("run", moment(run.started_utc, dates)),
    ...term("rows took", seconds(track.seconds), track.complete ? "" : "; the run did not finish"),
    ...term("commit", commitOf(run)),
    ...term("driver", driverOf(run)),
  ];
  if (track.base)
    terms.push(...term("compared with", `the run of ${moment(track.base.date, dates)}`,
      track.base.other_device ? ", on another device: times are not judged" : ""));
  if (track.base && track.base.shift) terms.push(...term("the machine itself", track.base.shift));
  if (run.robust_access) terms.push(...term("robust access", "on: every kernel checks each memory access"));
  if (run.device.as_if) terms.push(...term("limits of", `${run.device.as_if} (--as-if)`));
  if (run.validation) terms.push(...term("validation layer", "on"));
  return element("dl", {}, ...terms);
}

function changeTable(changes) {
  const value = (what, text, other) => (text === "" ? "–" :
      what.endsWith("(hash)")                       ? hash(text, other) :
                                                      text);
  return element("table", {class: "changes fold"}, element("caption", {}, "What else changed"),
    element("thead", {},
      element("tr", {}, ...["what", "before", "now"].map((text) => element("th", {scope: "col"}, text)))),
    element("tbody", {},
      ...changes.map(([what, before, now]) => element("tr", {}, element("th", {scope: "row"}, what),
                       element("td", {"data-label": "before"}, value(what, before, now)),
                       element("td", {"data-label": "now"}, value(what, now, before))))));
}

// Kernels are in the binary: without its hash, as in old journals, nothing is known about them.
function knowsKernels({inputs}) {
  return Boolean(inputs && inputs.binary);
}

function environment(track) {
  if (!track.base) return null;
  if (track.base.changes.length === 0)
    return note(`Driver, ${knowsKernels(track.run) ? "kernels, " : ""}ceilings and machine are unchanged.`);
  return element("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "What changed"},
    changeTable(track.base.changes));
}

const mostGroups = 5;  // of a device; the section about accuracy has them all

// Each group of failures: what its rows share, one of them, and what that one says.
function failureGroups(device, rows) {
  const groups = groupsOf(rows);
  const item = ({group, rows: failed}) => {
    const example = failed.find((row) => row.case.id === group.example) || failed[0];
    const all = Object.assign(clearFilters(), {failure: group.name, device: device.short_name, to: "rows"});
    return element("li", {}, link(fragment(all), ...groupWords(group, example.status)), element("br"),
      group.rows > 1 ? "such as " : "", link(fragment({row: rowName(example), to: "row"}), example.case.id),
      ...(group.story ? [element("br"), group.story] : []));
  };
  const more = groups.length - mostGroups;
  return groups.length === 0 ?
    null :
    element("ul", {class: "failure-groups"}, ...groups.slice(0, mostGroups).map(item),
      more > 0 ? element("li", {}, `and ${plural(more, "more kind")} of failures`) : null);
}

function card(device, rows) {
  const parts = device.tracks.map((track) => [circumstances(track), environment(track)]);
  const without = device.tracks.some((track) => track.base) ?
    null :
    note("There is no earlier run of this device to compare with.");
  return element("article", {class: "card"}, element("h3", {}, device.name),
    element("ul", {class: "tiles"}, ...tiles(device, rows)), failureGroups(device, rows),
    note(plural(rows.length, "row")), without, ...parts.reduce((all, part) => all.concat(part), []));
}

// A sentence for each device whose run did not finish.
function unfinished(core) {
  return core.devices.filter((device) => device.tracks.some((track) => !track.complete))
    .map((device) => `${device.short_name}: the run did not finish.`);
}

// A sentence for each machine that was slower or faster than when its base ran.
function shifts(core) {
  const sentences = [];
  for (const device of core.devices) {
    for (const track of device.tracks)
      if (track.base && track.base.shift) sentences.push(`${device.short_name}: ${track.base.shift}.`);
  }
  return sentences;
}

const speedVerdicts = ["FASTER", "SLOWER", "SAME", "ENVIRONMENT"];

function isJudgedByTime(row) {
  return row.over_base > 0 && !row.track.base.other_device && speedVerdicts.includes(row.verdict);
}

// That none became slower is known only if the time of some row was judged.
function speedWords(rows) {
  const slower = rows.filter((row) => row.verdict === "SLOWER").length;
  if (slower > 0) return [`${count(slower)} became slower`];
  return rows.some(isJudgedByTime) ? ["none became slower"] : [];
}

// Rows that a comparison says nothing about: they may be slower.
function unjudgedWords(rows) {
  return ["GONE", "SUSPECT"]
    .map((verdict) => [verdict, rows.filter((row) => row.verdict === verdict).length])
    .filter(([, number]) => number > 0)
    .map(([verdict, number]) => `${plural(number, "row")} ${number === 1 ? "is" : "are"} ${verdict}`);
}

function sentence(core) {
  const numberOf = (name) => core.rows.filter((row) => row.status_class === name).length;
  const failing = numberOf("failing");
  const lost = numberOf("infrastructure");
  const first =
    failing === 0 ? "No row fails" : `${plural(failing, "row")} ${failing === 1 ? "fails" : "fail"}`;
  const parts = [
    first, ...(lost > 0 ? [`${plural(lost, "row")} lost or not reached`] : []), ...speedWords(core.rows),
    ...unjudgedWords(core.rows)
  ];
  const rows = `${plural(core.rows.length, "row")} on ${plural(core.devices.length, "device")}`;
  return [`${parts.join(", ")}: ${rows}.`, ...unfinished(core), ...shifts(core)].join(" ");
}

// The verdict on the night is the page's own: what the night's mail says, the page says.
function nightPart(core) {
  if (!core.night) return null;
  return element("details", {class: "night"},
    element("summary", {}, `The verdict on the night ${core.night.name}`),
    element("pre", {}, core.night.text));
}

export function drawVerdict(core) {
  const text = core.night ? core.night.text.split("\n", 1)[0] : sentence(core);
  document.getElementById("summary").textContent = text;
  const byDevice = core.devices.map(() => []);
  for (const row of core.rows) byDevice[row.device.number].push(row);
  replaceContent("verdict-cards", ...core.devices.map((device) => card(device, byDevice[device.number])));
  replaceContent("verdict-nights", nightPart(core), ...periodParts(core));
}
