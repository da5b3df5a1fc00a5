// The lines of a roofline: what assay's own kernels reached on the device of each side (roofline.js).

import {significant} from "./format.js";
import {kindClass} from "./plot.js";

// Ceilings in the order of their colours.
export const ceilingNames = ["bandwidth", "fp32", "fp16", "dot4x8", "coop_int8", "coop_fp16"];

// The classes of a line: as its marks, and dashed for the second device.
function lineClass(sides, side, ceiling) {
  if (sides.length === 1) return ceiling === null ? "roof" : `roof ${kindClass(ceiling)}`;
  return `roof ${kindClass(side.place)}${side.place > 0 ? " beside" : ""}`;
}

// The device's ceilings that count operations.
export function rateCeilings(ceilings) {
  return ceilingNames.slice(1).map((name) => [name, ceilings[`${name}_gops`]]).filter(([, gops]) => gops > 0);
}

// The bandwidth for large data and, if a cache is visible, for small data.
export function bandwidths(ceilings) {
  const points = ceilings.bandwidth || [];
  if (points.length === 0) return [];
  const far = points[points.length - 1].copy_gbps;
  const near = d3.max(points, (point) => point.copy_gbps);
  return near > 1.2 * far ? [["memory", far], ["cache", near]] : [["memory", far]];
}

// The classes of a line's name: with two devices in the colour of its own.
function nameClass(sides, side) {
  return sides.length > 1 ? `ceiling-name ${kindClass(side.place)}` : "ceiling-name";
}

function lineText(plot, name, y) {
  plot.svg.append("text")
    .attr("class", name.class)
    .attr("x", name.x)
    .attr("y", y)
    .attr("text-anchor", name.anchor)
    .text(name.text);
}

// Puts the names of lines above marks that would hide their figures.
export function raiseNames(plot) {
  plot.svg.selectAll(".ceiling-name").raise();
}

// Draws the names of lines, {text, x, y, anchor, class}; names of lines that are close together are placed
// below each other.
export function nameLines(plot, names) {
  let lowest = -Infinity;
  for (const name of names.sort((a, b) => a.y - b.y)) {
    lowest = Math.max(name.y, lowest + 13);
    lineText(plot, name, lowest);
  }
}

// Draws a name along its line: above the cache's line, below the memory's.
function nameSlope(plot, [x1, y1], [x2, y2], text) {
  const angle = Math.atan2(y2 - y1, x2 - x1) * 180 / Math.PI;
  const shift = text.startsWith("cache") ? -5 : 14;
  plot.svg.append("text")
    .attr("class", "ceiling-name")
    .attr("text-anchor", "middle")
    .attr("dy", shift)
    .attr("transform", `translate(${x1 + (x2 - x1) * 0.25},${y1 + (y2 - y1) * 0.25}) rotate(${angle})`)
    .text(text);
}

// Draws the slopes: the operations that the bandwidth can feed, up to the highest roof. Those of two devices
// are close to each other, so the legend has their figures.
function drawSlopes(plot, sides, side, x, y, roof) {
  const [low, high] = x.domain();
  for (const [name, gbps] of bandwidths(side.ceilings)) {
    const from = Math.max(low, y.domain()[0] / gbps);
    const to = Math.min(high, Math.min(roof, y.domain()[1]) / gbps);
    if (to <= from) continue;
    plot.svg.append("line")
      .attr("class", lineClass(sides, side, 0))
      .attr("x1", x(from))
      .attr("y1", y(from * gbps))
      .attr("x2", x(to))
      .attr("y2", y(to * gbps));
    if (sides.length > 1) continue;
    nameSlope(plot, [x(from), y(from * gbps)], [x(to), y(to * gbps)], slopeName(name, gbps));
  }
}

export function slopeName(name, gbps) {
  return `${name}, ${significant(gbps, 3)} GB/s`;
}

// Joins the names of roofs of nearly the same height.
function oneNamePerLine(names) {
  const shared = [];
  for (const name of names) {
    const same = shared.find((other) => Math.abs(other.y - name.y) < 10);
    if (same)
      same.text += `, ${name.text}`;
    else
      shared.push(name);
  }
  return shared;
}

// Draws the roofs of a device: each begins where the fastest memory can feed it. Returns their names, which
// are placed there.
export function drawRoofs(plot, sides, side, x, y) {
  const rates = rateCeilings(side.ceilings);
  drawSlopes(plot, sides, side, x, y, d3.max(rates, ([, gops]) => gops) || y.domain()[1]);
  const fastest = d3.max(bandwidths(side.ceilings), ([, gbps]) => gbps) || 1;
  const [low, high] = x.domain();
  const names = rates.map(([name, gops]) => {
    const from = x(Math.min(high, Math.max(low, gops / fastest)));
    plot.svg.append("line")
      .attr("class", lineClass(sides, side, ceilingNames.indexOf(name)))
      .attr("x1", from)
      .attr("x2", x(high))
      .attr("y1", y(gops))
      .attr("y2", y(gops));
    const hasRoom = from - plot.left > 70;
    return {
      text: name,
      x: hasRoom ? from - 6 : from + 4,
      y: y(gops) + (hasRoom ? 4 : -5),
      anchor: hasRoom ? "end" : "start",
      class: nameClass(sides, side)
    };
  });
  return oneNamePerLine(names);
}

export function curve(plot, sides, side, x, y, key) {
  const line = d3.line().x((point) => x(point.footprint_bytes)).y((point) => y(point[key]));
  const [low, high] = x.domain();
  const shown = (side.ceilings.bandwidth ||
    []).filter((point) => point[key] > 0 && point.footprint_bytes >= low && point.footprint_bytes <= high);
  if (shown.length < 2) return null;
  const own = sides.length > 1 ? "curve" : `curve-${key}`;
  plot.svg.append("path").attr("class", `${lineClass(sides, side, null)} ${own}`).attr("d", line(shown));
  // The three curves differ most for small footprints.
  const [first] = shown;
  const from = x(first.footprint_bytes);
  const text = key.replace("_gbps", "");
  const named = {text, class: nameClass(sides, side)};
  if (from - plot.left > 40) return {...named, x: from - 5, y: y(first[key]) + 4, anchor: "end"};
  return {...named, x: from, y: y(first[key]) - 6, anchor: "start"};
}
