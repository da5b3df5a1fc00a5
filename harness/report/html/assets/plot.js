// Parts that charts share: a drawing with axes, symbols that differ in shape and colour, and points that
// can be selected with mouse and keyboard.

import {element} from "./dom.js";
import {digitsOf, short} from "./format.js";

const symbols = [
  d3.symbolCircle, d3.symbolDiamond, d3.symbolTriangle, d3.symbolSquare, d3.symbolCross, d3.symbolStar,
  d3.symbolWye
];

// The CSS class of a kind, from its place among all kinds: style.css has eight colours.
export function kindClass(place) {
  return `kind-${place % 8}`;
}

export function symbolPath(place, size) {
  return d3.symbol().type(symbols[place % symbols.length]).size(size)();
}

// A legend of kinds: [text, place]; hollow marks if that is said.
export function legend(kinds) {
  return element("ul", {class: "legend"}, ...kinds.map(([text, place, isHollow]) => {
    const item = element("li");
    d3.select(item)
      .append("svg")
      .attr("width", 16)
      .attr("height", 16)
      .attr("viewBox", "-8 -8 16 16")
      .attr("aria-hidden", "true")
      .append("path")
      .attr("d", symbolPath(place, 64))
      .attr("class", `${kindClass(place)}${isHollow ? " point hollow" : ""}`);
    item.append(text);
    return item;
  }));
}

export function availableWidth(id) {
  return Math.max(260, document.getElementById(id).clientWidth);
}

// The width of pictures in a column of a table, which are as wide as the page where style.css folds tables.
export function columnWidth(id, least, most) {
  const available = availableWidth(id);
  if (matchMedia("(max-width: 600px)").matches) return available - 4;
  return Math.max(least, Math.min(most, Math.floor(available * 0.4)));
}

// A drawing of `width` x `height` with room for axes; left, right, top and bottom are the edges of the area
// for data.
export function drawing(width, height, label, margin) {
  const svg = d3.create("svg")
                .attr("viewBox", `0 0 ${width} ${height}`)
                .attr("width", width)
                .attr("height", height)
                .attr("role", "img")
                .attr("aria-label", label);
  return {
    svg,
    node: svg.node(),
    left: margin.left,
    right: width - margin.right,
    top: margin.top,
    bottom: height - margin.bottom,
  };
}

// Ticks of a logarithmic axis: powers of ten, with 2 and 5 between them if there is room. Where few of these
// fit, equal steps.
export function logTicks(scale, room) {
  const [low, high] = scale.domain();
  if (high / low < 5) return d3.ticks(low, high, Math.min(5, room));
  const decades = Math.log10(high / low);
  const steps = decades * 3 < room ? [1, 2, 5] : [1];
  const every = Math.max(1, Math.ceil(decades / room));
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
    if (steps.length === 1 && power % every !== 0) continue;
    for (const factor of steps) ticks.push(Number(`${factor}e${power}`));
  }
  return ticks.filter((tick) => tick >= low && tick <= high);
}

function axisTitle(plot, x, y, text, turned) {
  const title = plot.svg.append("text").attr("class", "axis-title").text(text);
  if (turned)
    title.attr("transform", `translate(${x},${y}) rotate(-90)`).attr("text-anchor", "middle");
  else
    title.attr("x", x).attr("y", y).attr("text-anchor", "middle");
}

const digitWidth = 7.5;  // pixels, at least, of a character of a tick

// The ticks of a horizontal axis whose texts do not touch those before them. One that must stay goes first.
export function spaced(scale, ticks, texts, first) {
  const room = (text) => text.length * digitWidth / 2 + 4;
  const kept = [];
  const order = ticks.map((tick, place) => ({tick, at: scale(tick), half: room(texts[place])}));
  for (const one of order.sort((a, b) => (b.tick === first) - (a.tick === first) || a.at - b.at))
    if (kept.every((other) => Math.abs(other.at - one.at) >= other.half + one.half)) kept.push(one);
  return kept.map((one) => one.tick);
}

function formatOf(ticks, format) {
  const digits = digitsOf(ticks);
  return format || ((tick) => short(tick, digits));
}

export function bottomAxis(plot, scale, title, ticks, format) {
  const write = formatOf(ticks, format);
  const axis = d3.axisBottom(scale)
                 .tickValues(scale.bandwidth ? ticks : spaced(scale, ticks, ticks.map(write)))
                 .tickFormat(write)
                 .tickSizeInner(plot.top - plot.bottom)
                 .tickPadding(8);
  plot.svg.append("g").attr("class", "axis").attr("transform", `translate(0,${plot.bottom})`).call(axis);
  axisTitle(plot, (plot.left + plot.right) / 2, plot.bottom + 40, title, false);
}

export function leftAxis(plot, scale, title, ticks, format) {
  const axis = d3.axisLeft(scale)
                 .tickValues(ticks)
                 .tickFormat(formatOf(ticks, format))
                 .tickSizeInner(plot.left - plot.right)
                 .tickPadding(8);
  plot.svg.append("g").attr("class", "axis").attr("transform", `translate(${plot.left},0)`).call(axis);
  axisTitle(plot, 14, (plot.top + plot.bottom) / 2, title, true);
}

// A logarithmic scale for all values, with some margin.
export function logScale(values, range) {
  const positive = values.filter((value) => value > 0 && Number.isFinite(value));
  const low = d3.min(positive) || 1;
  const high = d3.max(positive) || 10;
  return d3.scaleLog().domain([low / 1.4, high * 1.4]).range(range);
}

const reach = 24;  // pixels between pointer and point

class PointReader {
  constructor(plot, points, options) {
    this.plot = plot;
    this.points = points.slice().sort((a, b) => a.x - b.x || a.y - b.y);
    this.options = options;
    this.tree = d3.quadtree(this.points, (point) => point.x, (point) => point.y);
    this.ring = plot.svg.append("circle").attr("class", "ring").attr("r", 9).attr("visibility", "hidden");
    this.told = element("div", {class: "told", "aria-live": "polite"}, options.hint);
    this.current = null;
    this.listen();
  }

  listen() {
    this.plot.svg.attr("tabindex", 0)
      .attr("role", "group")
      .on("mousemove",
        () => {
          const [x, y] = d3.mouse(this.plot.node);
          this.show(this.tree.find(x, y, reach));
        })
      .on("click", () => this.open())
      .on("keydown", () => this.key(d3.event));
  }

  key(event) {
    const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
    if (event.key === "Enter") this.open();
    if (step === undefined || this.points.length === 0) return;
    event.preventDefault();
    const at = this.current ? this.points.indexOf(this.current) : -1;
    this.show(this.points[(at + step + this.points.length) % this.points.length]);
  }

  show(point) {
    if (!point) return;
    this.current = point;
    this.ring.attr("cx", point.x).attr("cy", point.y).attr("visibility", "visible");
    this.told.textContent = this.options.describe(point);
  }

  open() {
    if (this.current && this.options.open) this.options.open(this.current);
  }
}

// Makes the points {x, y} of a drawing selectable: the nearest one is described below the drawing, a click
// or Enter opens it, arrow keys move from one to the next. Returns the element with the description.
export function readPoints(plot, points, options) {
  return new PointReader(plot, points, options).told;
}
