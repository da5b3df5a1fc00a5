// The samples of a row, block by block, next to the base's.

import {element} from "./dom.js";
import {count, micros, plural} from "./format.js";
import {bottomAxis, drawing, leftAxis, legend} from "./plot.js";

const most = 2500;  // marks; if there are more, each block shows only its share

function quartiles(block) {
  const sorted = block.slice().sort((a, b) => a - b);
  return [0.25, 0.5, 0.75].map((share) => d3.quantile(sorted, share));
}

// `room` of the sorted samples at equal distances, including the smallest and the largest.
function thinned(block, room) {
  if (block.length <= room) return block;
  const sorted = block.slice().sort((a, b) => a - b);
  return d3.range(room).map((place) => sorted[Math.round(place * (sorted.length - 1) / (room - 1))]);
}

function drawBlock(plot, y, block, place, band, side) {
  const [low, middle, high] = quartiles(block);
  const center = place + band * (side.offset + 0.5) / side.count;
  const half = band / side.count * 0.36;
  const group = plot.svg.append("g").attr("class", side.name);
  group.append("rect")
    .attr("class", "box")
    .attr("x", center - half)
    .attr("width", 2 * half)
    .attr("y", y(high))
    .attr("height", Math.max(1, y(low) - y(high)));
  group.append("line")
    .attr("class", "median")
    .attr("x1", center - half)
    .attr("x2", center + half)
    .attr("y1", y(middle))
    .attr("y2", y(middle));
  const shown = thinned(block, side.room);
  const radius = shown.length > 60 ? 1.6 : 2.6;
  shown.forEach((us, number) => {
    const across = ((number * 0.618034) % 1 - 0.5) * 1.5 * half;
    group.append("circle")
      .attr("class", "sample")
      .attr("cx", center + across)
      .attr("cy", y(us))
      .attr("r", radius);
  });
}

function drawSide(plot, x, y, blocks, side) {
  blocks.forEach((block, number) => {
    if (block.length > 0) drawBlock(plot, y, block, x(number + 1), x.bandwidth(), side);
  });
}

function numbersOf(blocks) {
  return d3.range(1, blocks + 1).filter((number) => blocks <= 24 || number % Math.ceil(blocks / 12) === 1);
}

export function samplesFigure(samples, width) {
  const [now, before] = samples;
  const blocks = Math.max(now ? now.length : 0, before ? before.length : 0);
  const all = [].concat(...(now || []), ...(before || []));
  const plot = drawing(width, 300, `${count(all.length)} samples in ${count(blocks)} blocks`,
    {left: 70, right: 12, top: 14, bottom: 52});
  const x = d3.scaleBand().domain(d3.range(1, blocks + 1)).range([plot.left, plot.right]).padding(0.15);
  const [low, high] = d3.extent(all);
  const air = (high - low) * 0.08 || high * 0.01;
  const y = d3.scaleLinear().domain([low - air, high + air]).range([plot.bottom, plot.top]);
  bottomAxis(plot, x, "block (each with fresh buffers)", numbersOf(blocks), String);
  leftAxis(plot, y, "µs", y.ticks(6), y.tickFormat(6, "f"));
  const sides = [["before", before], ["now", now]].filter(([, one]) => one);
  sides.forEach(
    ([name, one], offset) => drawSide(plot, x, y, one,
      {name, offset, count: sides.length, room: Math.max(5, Math.floor(most / sides.length / blocks))}));
  const kinds = sides.length > 1 ? legend([["now", 0], ["the base", 1]]) : null;
  const spread = now ? ` Block medians are between ${blockRange(now)} µs.` : "";
  return element("figure", {class: "samples"},
    element("figcaption", {}, `Samples by block: ${plural(all.length, "sample")}.${spread} `,
      "A box covers the middle half; its line is the median."),
    ...(kinds ? [kinds] : []), plot.node);
}

function blockRange(blocks) {
  const medians = blocks.filter((block) => block.length > 0).map((block) => quartiles(block)[1]);
  return `${micros(d3.min(medians))} and ${micros(d3.max(medians))}`;
}
