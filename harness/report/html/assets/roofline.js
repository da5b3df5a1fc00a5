// 3. Roofline: the rate of each row under the ceilings that the same run measured; of one device, or of two
// in one picture. A picture is of `sides`: {device, place, rows, ceilings}.

import {bandwidths, ceilingNames, curve, drawRoofs, nameLines, raiseNames, rateCeilings, slopeName} from "./ceiling_lines.js";
import {choice, element, note, replaceContent} from "./dom.js";
import {count, micros, percent, short, significant} from "./format.js";
import {availableWidth, bottomAxis, drawing, kindClass, leftAxis, legend, logScale, logTicks, readPoints, symbolPath} from "./plot.js";
import {change, changed, rowName} from "./state.js";

const most = 6000;  // points of a device that are drawn in a picture

function kindOf(row) {
  return Math.max(0, ceilingNames.indexOf(row.ceiling));
}

// The place of a mark's shape and colour: two devices have one each, one device has one per ceiling.
function markOf(sides, side, row) {
  return sides.length > 1 ? side.place : kindOf(row);
}

function describe(row, sides) {
  const rate = row.gops > 0 ? `${short(row.gops)} GOP/s, ` : "";
  const limit = row.limited_by ? `, limited by ${row.limited_by}` : "";
  const device = sides.length > 1 ? `${row.device.short_name}: ` : "";
  return `${device}${row.case.id}${row.case.cache ? " (cold)" : ""}: ${micros(row.time_us)} µs, ${rate}${
           significant(row.gbps, 3)} GB/s, ` +
    `${percent(row.pct_peak)} of its ceiling${limit}`;
}

// The rows of a side that are drawn: if there are too many, those with the most to gain.
function drawnRows(side, wanted) {
  const rows = side.rows.filter(wanted);
  if (rows.length <= most) return rows;
  return rows.sort((a, b) => (b.us_to_gain || 0) - (a.us_to_gain || 0)).slice(0, most);
}

// What a caption says about rows that are not drawn.
function leftOut(sides, wanted) {
  return sides.map((side) => [side, side.rows.filter(wanted).length])
    .filter(([, number]) => number > most)
    .map(([side, number]) => `; ${sides.length > 1 ? `of ${side.device.short_name}, ` : ""}the ${
           count(most)} with the most to gain of ${count(number)} are drawn`)
    .join("");
}

// Draws the rows as marks. Those of a second device are hollow, as they would hide the first one's.
function drawPoints(plot, sides, wanted, x, y) {
  const points = [].concat(...sides.map(
    (side) =>
      drawnRows(side, wanted)
        .map(
          (row) => ({row, kind: markOf(sides, side, row), isHollow: side.place > 0, x: x(row), y: y(row)}))));
  plot.svg.append("g")
    .selectAll("path")
    .data(points)
    .enter()
    .append("path")
    .attr("class", (point) => `point ${kindClass(point.kind)}${point.isHollow ? " hollow" : ""}`)
    .attr("transform", (point) => `translate(${point.x},${point.y})`)
    .attr("d", (point) => symbolPath(point.kind, 36));
  return readPoints(plot, points, {
    hint: "Point at a mark to see its row; a click opens it. With the keyboard: arrow keys and Enter.",
    describe: (point) => describe(point.row, sides),
    open: (point) => {
      location.hash = changed({row: rowName(point.row), to: "row"});
    },
  });
}

function figure(id, caption, width, plot, told) {
  const node = element("figure", {id}, element("figcaption", {}, caption), plot.node, told);
  node.style.width = `${width}px`;
  return node;
}

function rowsOf(sides) {
  return [].concat(...sides.map((side) => side.rows));
}

function hasOperations(row) {
  return row.gops > 0;
}

function computePlot(sides, width) {
  const rows = rowsOf(sides).filter(hasOperations);
  const plot = drawing(width, Math.min(460, Math.max(340, width * 0.7)),
    `Roofline: ${count(rows.length)} rows by arithmetic intensity`,
    {left: 64, right: 12, top: 16, bottom: 52});
  const ceilings = sides.map((side) => side.ceilings);
  // Keeps the slopes visible for any rows, from the smallest intensity on.
  const slopes = [].concat(...ceilings.map(bandwidths)).map(([, gbps]) => gbps * 0.1);
  const used = [...[].concat(...ceilings.map(rateCeilings)).map(([, gops]) => gops), ...slopes];
  const x = logScale([...rows.map((row) => row.intensity), 0.1, 100], [plot.left, plot.right]);
  const y = logScale([...rows.map((row) => row.gops), ...used], [plot.bottom, plot.top]);
  bottomAxis(plot, x, "arithmetic intensity, operations per byte", logTicks(x, width / 60));
  leftAxis(plot, y, "GOP/s", logTicks(y, 8));
  nameLines(plot, [].concat(...sides.map((side) => drawRoofs(plot, sides, side, x, y))));
  const told = drawPoints(plot, sides, hasOperations, (row) => x(row.intensity), (row) => y(row.gops));
  raiseNames(plot);
  return figure(
    "roofline-compute", `Rows with operations${leftOut(sides, hasOperations)}`, width, plot, told);
}

function bandwidthPlot(sides, width) {
  const rows = rowsOf(sides);
  const plot = drawing(width, Math.min(460, Math.max(340, width * 0.7)),
    `Bandwidth: ${count(rows.length)} rows by bytes`, {left: 64, right: 12, top: 16, bottom: 52});
  const points = [].concat(...sides.map((side) => side.ceilings.bandwidth || []));
  const all = [].concat(...points.map((point) => [point.copy_gbps, point.read_gbps, point.write_gbps]));
  const x = logScale([...rows.map((row) => row.bytes), ...points.map((point) => point.footprint_bytes)],
    [plot.left, plot.right]);
  const y = logScale([...rows.map((row) => row.gbps), ...all], [plot.bottom, plot.top]);
  bottomAxis(plot, x, "bytes that must be moved", logTicks(x, width / 60));
  leftAxis(plot, y, "GB/s", logTicks(y, 8));
  const keys = sides.length > 1 ? ["copy_gbps"] : ["copy_gbps", "read_gbps", "write_gbps"];
  nameLines(plot,
    [].concat(...sides.map((side) => keys.map((key) => curve(plot, sides, side, x, y, key))))
      .filter((name) => name));
  const told = drawPoints(plot, sides, () => true, (row) => x(row.bytes), (row) => y(row.gbps));
  raiseNames(plot);
  return figure(
    "roofline-bandwidth", `All rows, by the bytes they move${leftOut(sides, () => true)}`, width, plot, told);
}

function newestCeilings(device) {
  const measured =
    device.tracks.map((track) => track.run.ceilings).filter((ceilings) => ceilings && ceilings.bandwidth);
  return measured[measured.length - 1] || {};
}

// The marks that are shown: of each device, or of each ceiling that rows are compared with.
function kindsOf(sides) {
  if (sides.length > 1) {
    return sides.map((side) => {
      const slopes = bandwidths(side.ceilings).map(([name, gbps]) => slopeName(name, gbps)).join("; ");
      return [`${side.device.short_name}${slopes === "" ? "" : ` (${slopes})`}`, side.place, side.place > 0];
    });
  }
  return ceilingNames.map((name, place) => [name, place]).filter(([
    name
  ]) => sides[0].rows.some((row) => row.ceiling === name));
}

function explanation(sides) {
  const rows = rowsOf(sides);
  const counts =
    `${count(rows.length)} timed rows, ${count(rows.filter(hasOperations).length)} of them with operations. `;
  if (sides.length === 1) {
    return note(counts, "A mark's shape and colour show the ceiling that its impl is compared with; ",
      "lines show what assay's own kernels reached in the same run.");
  }
  return note(counts,
    "A mark's shape and colour show its device; lines show what assay's own kernels reached on each ",
    `device in the same run. Those of ${sides[1].device.short_name} are dashed, and its marks are hollow.`);
}

function choices(devices, device, beside) {
  const options = (list) => list.map((one) => [one.short_name, one.short_name]);
  const first = choice("Device", options(devices), device.short_name, (value) => change({roof: value}));
  if (devices.length === 1) return first;
  const second = choice("Beside", [["", "no other"], ...options(devices.filter((one) => one !== device))],
    beside ? beside.short_name : "", (value) => change({beside: value}));
  return element("div", {class: "choices"}, first, second);
}

export function drawRoofline(core, rows, state) {
  const timed = rows.filter((row) => row.time_us > 0 && row.gbps > 0);
  const devices = core.devices.filter((device) => timed.some((row) => row.device === device));
  const device = devices.find((one) => one.short_name === state.roof) || devices[0];
  if (!device) return replaceContent("roofline", note("No timed row matches the filters."));
  const beside = devices.find((one) => one.short_name === state.beside && one !== device);
  const sides = [device, beside].filter((one) => one).map((one, place) => ({
    device: one,
    place,
    rows: timed.filter((row) => row.device === one),
    ceilings: newestCeilings(one)
  }));
  const room = availableWidth("roofline");
  const width = room > 900 ? Math.floor(room / 2) - 12 : room;
  const plots =
    [rowsOf(sides).some(hasOperations) ? computePlot(sides, width) : null, bandwidthPlot(sides, width)];
  return replaceContent("roofline", choices(devices, device, beside), legend(kindsOf(sides)),
    element("div", {class: "side-by-side"}, ...plots.filter((plot) => plot)), explanation(sides));
}
