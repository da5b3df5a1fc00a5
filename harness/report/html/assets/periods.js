// What became slower or faster over some days, and since which night.

import {element, link, note, scrolling} from "./dom.js";
import {count, micros, moment, plural, times} from "./format.js";
import {changed, rowName} from "./state.js";

const most = 100;  // rows of a period that are shown

function cell(label, text, kind) {
  return element("td", {"data-label": label, class: kind || null}, text);
}

// One line: a row, and the night from which on it has another time.
function changeLine(core, dates, [place, before, after, since, previous]) {
  const row = core.rows[place];
  const [run, last] = [core.runs[since], core.runs[previous]];
  const commit = run.commit === last.commit ? run.commit : `${last.commit} → ${run.commit}`;
  const driver = run.driver === last.driver ? run.driver : `${last.driver} → ${run.driver}`;
  return element("tr", {},
    element("th", {scope: "row"}, link(changed({row: rowName(row), to: "row"}), row.case.id)),
    cell("ratio", times(after / before), "number"),
    cell("µs", `${micros(before)} → ${micros(after)}`, "number"), cell("since", moment(run.date, dates)),
    cell("commit", commit), cell("driver", driver));
}

// What was taken out of the times, or is not compared, and why.
function sentences(texts) {
  return texts.map((text) => ` ${text[0].toUpperCase()}${text.slice(1)}.`).join("");
}

function periodPart(core, track, name, period) {
  const slower = period.changes.filter((change) => change[2] > change[1]).length;
  const faster = period.changes.length - slower;
  const title = `${name ? `${name}: over` : "Over"} ${period.days} days: ${plural(slower, "row")} slower, ${
    count(faster)} faster`;
  const judged = note(`${plural(period.judged, "row")} judged by all nights; half of them show a change of ${
    period.visible_pct} % once it has lasted 3 nights.${sentences(period.left_out)}`);
  if (period.changes.length === 0)
    return element("details", {class: "period"}, element("summary", {}, title), judged);
  const heads = ["row", "ratio", "µs", "since", "commit", "driver"];
  const dates = track.nights.map((number) => core.runs[number].date);
  const table = element("table", {class: "changes fold"}, element("caption", {}, "Rows with another time"),
    element("thead", {}, element("tr", {}, ...heads.map((text) => element("th", {scope: "col"}, text)))),
    element("tbody", {}, ...period.changes.slice(0, most).map((change) => changeLine(core, dates, change))));
  const left = period.changes.length - most;
  return element("details", {class: "period"}, element("summary", {}, title), judged, scrolling(title, table),
    left > 0 ? note(`and ${plural(left, "row")} more; assay trend --all lists them.`) : null);
}

// The periods of all devices; where there are several devices, with their names.
export function periodParts(core) {
  const parts = [];
  for (const device of core.devices) {
    const name = core.devices.length > 1 ? device.short_name : "";
    for (const track of device.tracks)
      for (const period of track.periods || []) parts.push(periodPart(core, track, name, period));
  }
  return parts;
}
