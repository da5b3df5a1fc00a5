// A row over the nights: its time with its interval, or its error relative to its accuracy bound.

import {element} from "./dom.js";
import {micros, moment, runNames, significant} from "./format.js";
import {bottomAxis, drawing, leftAxis, readPoints} from "./plot.js";

function nightsOf(core, row, values) {
  return row.track.nights.map(
    (number, place) => Object.assign({run: core.runs[number], place}, values(place)));
}

function ticksOf(nights, names, width) {
  const room = Math.max(...names.map((name) => name.length)) * 8 + 12;
  const every = Math.max(1, Math.ceil(nights.length / (width / room)));
  return nights.map((night) => night.place).filter((place) => place % every === 0);
}

// Marks nights whose driver or commit differs from the night before.
function drawChanges(plot, x, nights) {
  for (let place = 1; place < nights.length; place += 1) {
    const now = nights[place].run;
    const before = nights[place - 1].run;
    const words = [["driver", now.driver !== before.driver], ["commit", now.commit !== before.commit]]
                    .filter(([, is]) => is)
                    .map(([word]) => word);
    if (words.length === 0) continue;
    const at = x(place - 0.5);
    plot.svg.append("line")
      .attr("class", `change change-${words[0]}`)
      .attr("x1", at)
      .attr("x2", at)
      .attr("y1", plot.top)
      .attr("y2", plot.bottom)
      .append("title")
      .text(`${words.join(" and ")}: ${now.driver}, ${now.commit}`);
    plot.svg.append("text")
      .attr("class", "change-name")
      .attr("x", at)
      .attr("y", plot.top - 4)
      .attr("text-anchor", "middle")
      .text(words.map((word) => word[0]).join(""));
  }
}

function drawBand(plot, x, y, nights) {
  const area = d3.area()
                 .defined((night) => night.value !== null)
                 .x((night) => x(night.place))
                 .y0((night) => y(night.low))
                 .y1((night) => y(night.high));
  const line = d3.line()
                 .defined((night) => night.value !== null)
                 .x((night) => x(night.place))
                 .y((night) => y(night.value));
  plot.svg.append("path").attr("class", "band").attr("d", area(nights));
  plot.svg.append("path").attr("class", "trend").attr("d", line(nights));
}

function drawNights(plot, x, y, nights, unit) {
  const points = nights.filter((night) => night.value !== null)
                   .map((night) => ({night, x: x(night.place), y: y(night.value)}));
  plot.svg.append("g")
    .selectAll("circle")
    .data(points)
    .enter()
    .append("circle")
    .attr("class", (point) => (point.night.isFine ? "point night" : "point night failing"))
    .attr("r", 3.5)
    .attr("cx", (point) => point.x)
    .attr("cy", (point) => point.y);
  for (const night of nights.filter((one) => one.value === null && one.status !== "" && !one.isFine))
    plot.svg.append("text")
      .attr("class", "failing")
      .attr("x", x(night.place))
      .attr("y", plot.bottom - 4)
      .attr("text-anchor", "middle")
      .text("×");
  const dates = nights.map((night) => night.run.date);
  return readPoints(plot, points, {
    hint: "Point at a night to read it.",
    describe: ({night}) =>
      `${moment(night.run.date, dates)}: ${
        unit === "µs" ? `${micros(night.value)} µs` : significant(night.value, 3)}, ${night.status}` +
      `; driver ${night.run.driver}; commit ${night.run.commit}${
        typeof night.hash === "number" ? `; output ${night.hash + 1}` : ""}`,
  });
}

function figure(nights, unit, caption, width) {
  const plot = drawing(width, 240, caption, {left: 70, right: 16, top: 22, bottom: 52});
  const x = d3.scaleLinear().domain([-0.5, nights.length - 0.5]).range([plot.left, plot.right]);
  const shown = nights.filter((night) => night.value !== null && Number.isFinite(night.high));
  const low = d3.min(shown, (night) => night.low);
  const high = d3.max(shown, (night) => night.high);
  const air = (high - low) * 0.1 || high * 0.05 || 1;
  const y = d3.scaleLinear().domain([Math.max(0, low - air), high + air]).range([plot.bottom, plot.top]);
  const names = runNames(nights.map((night) => night.run.date));
  bottomAxis(plot, x, "night", ticksOf(nights, names, width), (place) => names[place]);
  leftAxis(plot, y, unit, y.ticks(5), y.tickFormat(5, "f"));
  drawBand(plot, x, y, nights);
  drawChanges(plot, x, nights);
  const description = drawNights(plot, x, y, nights, unit);
  return element("figure", {class: "history"}, element("figcaption", {}, caption), plot.node, description);
}

// The charts of a row's history; none if there is only one night, or no value to draw.
export function historyFigures(core, row, history, statusNames, width) {
  if (!history || row.track.nights.length < 2) return [];
  const status = (place) => {
    const name = history.s[place] < 0 ? "" : statusNames[history.s[place]];
    return {
      status: name,
      isFine: name === "" || core.statuses[name] === "fine",
      hash: history.h && history.h[place]
    };
  };
  const figures = [];
  if (history.t) {
    const nights = nightsOf(core, row, (place) => {
      const value = history.t[place];
      const half = value * (history.c[place] || 0) / 100;
      return Object.assign({value, low: value - half, high: value + half}, status(place));
    });
    figures.push(figure(nights, "µs",
      `Median time over ${nights.length} nights, with its interval. ` +
        "Lines mark changes of the driver (d) or the commit (c) between two nights.",
      width));
  }
  // Without any finite error there is nothing to draw.
  if (history.e && history.e.some((error) => typeof error === "number")) {
    const nights = nightsOf(core, row, (place) => {
      const value = typeof history.e[place] === "number" ? history.e[place] : null;
      return Object.assign({value, low: value, high: value}, status(place));
    });
    figures.push(figure(nights, "share of the bound",
      "Largest error of an element relative to its accuracy bound; above 1 is wrong.", width));
  }
  return figures;
}
