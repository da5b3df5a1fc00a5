// 3. Roofline: the rate of each row under the ceilings that the same run measured.

import {choice, element, note, replaceContent} from "./dom.js";
import {count, micros, percent, short, significant} from "./format.js";
import {availableWidth, bottomAxis, drawing, kindClass, leftAxis, legend, logScale, logTicks, readPoints, symbolPath} from "./plot.js";
import {change, changed, rowName} from "./state.js";

// Ceilings in the order of their colours.
const ceilingNames = ["bandwidth", "fp32", "fp16", "dot4x8", "coop_int8", "coop_fp16"];
const most = 6000;  // points that are drawn

function kindOf(row) {
  return Math.max(0, ceilingNames.indexOf(row.ceiling));
}

function describe(row) {
  const rate = row.gops > 0 ? `${short(row.gops)} GOP/s, ` : "";
  const limit = row.limited_by ? `, limited by ${row.limited_by}` : "";
  return `${row.case.id}${row.case.cache ? " (cold)" : ""}: ${micros(row.time_us)} µs, ${rate}${
           significant(row.gbps, 3)} GB/s, ` +
    `${percent(row.pct_peak)} of its ceiling${limit}`;
}

function drawPoints(plot, rows, x, y) {
  const points = rows.slice(0, most).map((row) => ({row, x: x(row), y: y(row)}));
  plot.svg.append("g")
    .selectAll("path")
    .data(points)
    .enter()
    .append("path")
    .attr("class", (point) => `point ${kindClass(kindOf(point.row))}`)
    .attr("transform", (point) => `translate(${point.x},${point.y})`)
    .attr("d", (point) => symbolPath(kindOf(point.row), 36));
  return readPoints(plot, points, {
    hint: "Point at a mark to see its row; a click opens it. With the keyboard: arrow keys and Enter.",
    describe: (point) => describe(point.row),
    open: (point) => {
      location.hash = changed({row: rowName(point.row), to: "row"});
    },
  });
}

// The device's ceilings that count operations.
function rateCeilings(ceilings) {
  return ceilingNames.slice(1).map((name) => [name, ceilings[`${name}_gops`]]).filter(([, gops]) => gops > 0);
}

// The bandwidth for large data and, if a cache is visible, for small data.
function bandwidths(ceilings) {
  const points = ceilings.bandwidth || [];
  if (points.length === 0) return [];
  const far = points[points.length - 1].copy_gbps;
  const near = d3.max(points, (point) => point.copy_gbps);
  return near > 1.2 * far ? [["memory", far], ["cache", near]] : [["memory", far]];
}

function lineText(plot, x, y, text, anchor) {
  plot.svg.append("text")
    .attr("class", "ceiling-name")
    .attr("x", x)
    .attr("y", y)
    .attr("text-anchor", anchor)
    .text(text);
}

// Puts the names of lines above marks that would hide their figures.
function raiseNames(plot) {
  plot.svg.selectAll(".ceiling-name").raise();
}

// Draws the names of lines, {text, x, y, anchor}; names of lines that are close together are placed below
// each other.
function nameLines(plot, names) {
  let lowest = -Infinity;
  for (const name of names.sort((a, b) => a.y - b.y)) {
    lowest = Math.max(name.y, lowest + 13);
    lineText(plot, name.x, lowest, name.text, name.anchor);
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

// Draws the slopes: the operations that the bandwidth can feed, up to the highest roof.
function drawSlopes(plot, x, y, bandwidth, roof) {
  const [low, high] = x.domain();
  for (const [name, gbps] of bandwidth) {
    const from = Math.max(low, y.domain()[0] / gbps);
    const to = Math.min(high, Math.min(roof, y.domain()[1]) / gbps);
    if (to <= from) continue;
    plot.svg.append("line")
      .attr("class", `roof ${kindClass(0)}`)
      .attr("x1", x(from))
      .attr("y1", y(from * gbps))
      .attr("x2", x(to))
      .attr("y2", y(to * gbps));
    nameSlope(
      plot, [x(from), y(from * gbps)], [x(to), y(to * gbps)], `${name}, ${significant(gbps, 3)} GB/s`);
  }
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

// Draws the roofs: each begins where the fastest memory can feed it, and is labelled there.
function drawRoofs(plot, x, y, ceilings) {
  const rates = rateCeilings(ceilings);
  const bandwidth = bandwidths(ceilings);
  drawSlopes(plot, x, y, bandwidth, d3.max(rates, ([, gops]) => gops) || y.domain()[1]);
  const fastest = d3.max(bandwidth, ([, gbps]) => gbps) || 1;
  const [low, high] = x.domain();
  const names = rates.map(([name, gops]) => {
    const from = x(Math.min(high, Math.max(low, gops / fastest)));
    plot.svg.append("line")
      .attr("class", `roof ${kindClass(ceilingNames.indexOf(name))}`)
      .attr("x1", from)
      .attr("x2", x(high))
      .attr("y1", y(gops))
      .attr("y2", y(gops));
    const hasRoom = from - plot.left > 70;
    return {
      text: name,
      x: hasRoom ? from - 6 : from + 4,
      y: y(gops) + (hasRoom ? 4 : -5),
      anchor: hasRoom ? "end" : "start"
    };
  });
  nameLines(plot, oneNamePerLine(names));
}

function figure(id, caption, width, plot, told) {
  const node = element("figure", {id}, element("figcaption", {}, caption), plot.node, told);
  node.style.width = `${width}px`;
  return node;
}

function computePlot(rows, ceilings, width) {
  const plot = drawing(width, Math.min(460, Math.max(340, width * 0.7)),
    `Roofline: ${count(rows.length)} rows by arithmetic intensity`,
    {left: 64, right: 12, top: 16, bottom: 52});
  // Keeps the slopes visible for any rows, from the smallest intensity on.
  const slopes = bandwidths(ceilings).map(([, gbps]) => gbps * 0.1);
  const used = [...rateCeilings(ceilings).map(([, gops]) => gops), ...slopes];
  const x = logScale([...rows.map((row) => row.intensity), 0.1, 100], [plot.left, plot.right]);
  const y = logScale([...rows.map((row) => row.gops), ...used], [plot.bottom, plot.top]);
  bottomAxis(plot, x, "arithmetic intensity, operations per byte", logTicks(x, width / 60));
  leftAxis(plot, y, "GOP/s", logTicks(y, 8));
  drawRoofs(plot, x, y, ceilings);
  const told = drawPoints(plot, rows, (row) => x(row.intensity), (row) => y(row.gops));
  raiseNames(plot);
  return figure("roofline-compute", "Rows with operations", width, plot, told);
}

function curve(plot, x, y, points, key) {
  const line = d3.line().x((point) => x(point.footprint_bytes)).y((point) => y(point[key]));
  const [low, high] = x.domain();
  const shown =
    points.filter((point) => point[key] > 0 && point.footprint_bytes >= low && point.footprint_bytes <= high);
  if (shown.length < 2) return null;
  plot.svg.append("path").attr("class", `roof curve-${key}`).attr("d", line(shown));
  // The three curves differ most for small footprints.
  const [first] = shown;
  const from = x(first.footprint_bytes);
  const text = key.replace("_gbps", "");
  if (from - plot.left > 40) return {text, x: from - 5, y: y(first[key]) + 4, anchor: "end"};
  return {text, x: from, y: y(first[key]) - 6, anchor: "start"};
}

function bandwidthPlot(rows, ceilings, width) {
  const plot = drawing(width, Math.min(460, Math.max(340, width * 0.7)),
    `Bandwidth: ${count(rows.length)} rows by bytes`, {left: 64, right: 12, top: 16, bottom: 52});
  const points = ceilings.bandwidth || [];
  const all = [].concat(...points.map((point) => [point.copy_gbps, point.read_gbps, point.write_gbps]));
  const x = logScale([...rows.map((row) => row.bytes), ...points.map((point) => point.footprint_bytes)],
    [plot.left, plot.right]);
  const y = logScale([...rows.map((row) => row.gbps), ...all], [plot.bottom, plot.top]);
  bottomAxis(plot, x, "bytes that must be moved", logTicks(x, width / 60));
  leftAxis(plot, y, "GB/s", logTicks(y, 8));
  nameLines(plot,
    ["copy_gbps", "read_gbps", "write_gbps"]
      .map((key) => curve(plot, x, y, points, key))
      .filter((end) => end));
  const told = drawPoints(plot, rows, (row) => x(row.bytes), (row) => y(row.gbps));
  raiseNames(plot);
  return figure("roofline-bandwidth", "All rows, by the bytes they move", width, plot, told);
}

function newestCeilings(device) {
  const measured =
    device.tracks.map((track) => track.run.ceilings).filter((ceilings) => ceilings && ceilings.bandwidth);
  return measured[measured.length - 1] || {};
}

export function drawRoofline(core, rows, state) {
  const timed = rows.filter((row) => row.time_us > 0 && row.gbps > 0);
  const devices = core.devices.filter((device) => timed.some((row) => row.device === device));
  const device = devices.find((one) => one.short_name === state.roof) || devices[0];
  if (!device) return replaceContent("roofline", note("No timed row matches the filters."));
  const shown = timed.filter((row) => row.device === device);
  const computing = shown.filter((row) => row.gops > 0);
  const room = availableWidth("roofline");
  const width = room > 900 ? Math.floor(room / 2) - 12 : room;
  const kinds = ceilingNames.map((name, place) => [name, place]).filter(([
    name
  ]) => shown.some((row) => row.ceiling === name));
  const ceilings = newestCeilings(device);
  const plots = [
    computing.length > 0 ? computePlot(computing, ceilings, width) : null,
    bandwidthPlot(shown, ceilings, width)
  ];
  return replaceContent("roofline",
    choice("Device", devices.map((one) => [one.short_name, one.short_name]), device.short_name,
      (value) => change({roof: value})),
    legend(kinds), element("div", {class: "side-by-side"}, ...plots.filter((plot) => plot)),
    note(`${count(shown.length)} timed rows, ${
           count(computing.length)} of them with operations. A mark's shape and colour show `,
      "the ceiling that its impl is compared with; lines show what assay's own kernels reached in the same run."));
}
