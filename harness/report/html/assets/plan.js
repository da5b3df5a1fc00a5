// The plan of a chain: its steps from top to bottom, a line for each tensor from the step that writes it to
// those that read it, and what each step took.

import {element} from "./dom.js";
import {micros, plural} from "./format.js";

const lineHeight = 22;
const lane = 9;         // distance between lines of tensors
const mostSteps = 500;  // a browser draws no more in a moment
const mostLanes = 12;   // tensors that live longer than others share the outermost

// Lines of tensors as [from, to]: places of steps; a tensor that enters comes from above the first.
function linesOf(steps) {
  const writers = new Map();
  const lines = [];
  steps.forEach((step, place) => {
    for (const value of step.reads)
      lines.push({value, from: writers.has(value) ? writers.get(value) : -1, to: place});
    for (const value of step.writes) writers.set(value, place);
  });
  return lines;
}

// Gives each line the innermost lane that is free where it passes other steps.
function lanesOf(lines) {
  const taken = [];
  for (const line of [...lines].sort((a, b) => a.to - a.from - (b.to - b.from))) {
    let number = 0;
    while (number < mostLanes - 1 &&
      (taken[number] || []).some((other) => other.from < line.to && line.from < other.to))
      ++number;
    if (!taken[number]) taken[number] = [];
    taken[number].push(line);
    line.lane = number;
  }
  return Math.max(1, taken.length);
}

function drawLine(svg, line, edge) {
  const y = (place) => (place + 1) * lineHeight + lineHeight / 2;
  const x = edge - (line.lane + 1) * lane;
  svg.append("path")
    .attr("class", "tensor")
    .attr("d", `M${edge},${y(line.from) + 3}H${x}V${y(line.to) - 3}H${edge}`)
    .append("title")
    .text(line.value);
}

function drawStep(svg, step, place, edge, width, scale) {
  const top = (place + 1) * lineHeight;
  const group = svg.append("g").attr("class", step.transition ? "step transition" : "step");
  group.append("rect")
    .attr("x", edge)
    .attr("y", top + 2)
    .attr("width", width - edge - 1)
    .attr("height", lineHeight - 4);
  const bar = scale(step.us || 0);
  group.append("rect")
    .attr("class", "share")
    .attr("x", edge)
    .attr("y", top + lineHeight - 5)
    .attr("width", bar)
    .attr("height", 3);
  const writes = step.writes.join(", ");
  const what = step.transition ? `copy to ${writes}` : `${step.name}: ${step.op}/${step.impl} to ${writes}`;
  group.append("text").attr("x", edge + 6).attr("y", top + 15).text(what);
  group.append("text")
    .attr("class", "time")
    .attr("x", width - 6)
    .attr("y", top + 15)
    .text(step.us ? micros(step.us) : "");
  group.append("title").text(`${what}; reads ${step.reads.join(", ")}`);
}

export function planFigure(plan, width) {
  const steps = plan.steps.slice(0, mostSteps);
  const lines = linesOf(steps);
  const edge = (lanesOf(lines) + 1) * lane;
  const height = (steps.length + 1) * lineHeight + 4;
  const scale =
    d3.scaleLinear().domain([0, d3.max(steps, (step) => step.us) || 1]).range([0, width - edge - 1]);
  const svg = d3.create("svg")
                .attr("class", "plan")
                .attr("width", width)
                .attr("height", height)
                .attr("viewBox", `0 0 ${width} ${height}`)
                .attr("role", "img")
                .attr("aria-label", "The steps of the chain and the tensors between them");
  svg.append("text").attr("x", edge + 6).attr("y", 15).attr("class", "faint").text("tensors that enter");
  svg.append("text").attr("x", width - 6).attr("y", 15).attr("class", "faint time").text("time, µs");
  for (const line of lines) drawLine(svg, line, edge);
  steps.forEach((step, place) => drawStep(svg, step, place, edge, width, scale));
  const folded =
    plan.folded.length > 0 ? `; folded, so that nothing runs for them: ${plan.folded.join(", ")}` : "";
  const left = steps.length < plan.steps.length ? `; the first ${mostSteps} are drawn` : "";
  return element("figure", {},
    element("figcaption", {},
      `Plan of the chain: ${plural(plan.steps.length, "step")}, ${
        plural(plan.transitions, "transition")} (outlined)${left}${folded}`),
    svg.node());
}
