// Groups of failures: rows that fail in the same way, as assay run groups them at its end.

import {element} from "./dom.js";

// The groups of the rows, in the order of their track: groups with new failures first, then the largest.
export function groupsOf(rows) {
  const byTrack = new Map();
  for (const row of rows) {
    if (row.failure === "") continue;
    if (!byTrack.has(row.track)) byTrack.set(row.track, new Map());
    const byName = byTrack.get(row.track);
    if (!byName.has(row.failure)) byName.set(row.failure, []);
    byName.get(row.failure).push(row);
  }
  const groups = [];
  for (const [track, byName] of byTrack)
    for (const group of track.failures)
      if (byName.has(group.name)) groups.push({group, rows: byName.get(group.name)});
  return groups;
}

// How many of a group's failures are new since the run that it is compared with.
function news(group) {
  if (group.new === 0) return "";
  return group.new === group.rows ? "; new since the run before" : `; ${group.new} of them new`;
}

// The status and the first line of a group.
export function groupWords(group, status) {
  return [element("b", {}, status), ` ${group.text}${news(group)}`];
}
