// Draws the page, and redraws it whenever the fragment of its URL changes.

import {drawAccuracy} from "./accuracy.js";
import {drawFilters, showFilters} from "./choice.js";
import {readCore} from "./data.js";
import {drawFaults, faultSentence, readFaults} from "./faults.js";
import {day} from "./format.js";
import {drawHeatMap} from "./heat_map.js";
import {drawImpls} from "./impls.js";
import {drawModels} from "./models.js";
import {drawNights} from "./nights.js";
import {drawRoofline} from "./roofline.js";
import {drawRow} from "./row_part.js";
import {drawRows} from "./rows.js";
import {changed, filterKeys, readState} from "./state.js";
import {drawVerdict} from "./verdict.js";

// Lets the browser show the sections drawn so far.
function pause() {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

// The keys, in addition to the filters, on which a section's content depends.
const ownKeys = {
  heat: ["measure"],
  nights: ["nights-on", "from", "until"],
  roofline: ["roof", "beside"],
  impls: ["impls-op", "impls-on", "impls-all"]
};

class Drawing {
  constructor(core) {
    this.core = core;
    this.drawn = {};
    this.turn = 0;
  }

  // Draws a section unless it already shows this state.
  async section(name, keys, state, draw) {
    const wanted = JSON.stringify(keys.map((key) => state[key] || ""));
    if (this.drawn[name] === wanted) return;
    this.drawn[name] = wanted;
    await draw();
    await pause();
  }

  async draw() {
    const turn = ++this.turn;
    const hash = location.hash;
    const state = readState();
    const rows = showFilters(this.core, state);
    const isOld = () => turn !== this.turn;
    const sections = [
      ["heat", () => drawHeatMap(this.core, rows, state)],
      ["roofline", () => drawRoofline(this.core, rows, state)],
      ["impls", () => drawImpls(this.core, rows, state)], ["accuracy", () => drawAccuracy(this.core, rows)],
      ["rows", () => drawRows(rows)],
      ["nights", () => drawNights(this.core, rows, state)],  // last, as it unpacks every night
    ];
    await this.section("row", ["row"], state, () => drawRow(this.core, state));
    for (const [name, draw] of sections) {
      if (isOld()) return;
      await this.section(name, [...filterKeys, ...(ownKeys[name] || [])], state, draw);
    }
    if (isOld()) return;
    this.showLinks();
    this.goTo(state.to);
    document.documentElement.dataset.state = hash;  // the state that is drawn, for tests
  }

  // Updates the links to sections, so that they keep the current state.
  showLinks() {
    for (const link of document.querySelectorAll("[data-to]"))
      link.setAttribute("href", changed({to: link.dataset.to}));
  }

  // Scrolls to the section that `to` names.
  goTo(name) {
    const target =
      name === "row" ? document.getElementById("row-title") : document.getElementById(`${name}-heading`);
    if (!target) return;
    target.focus({preventScroll: true});
    target.scrollIntoView();
  }

  redraw() {
    this.drawn = {};
    this.draw();
  }
}

function watchWidth(drawing) {
  let width = innerWidth;
  let timer = 0;
  addEventListener("resize", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (innerWidth !== width) drawing.redraw();
      width = innerWidth;
    }, 200);
  });
}

function title(core) {
  const dates =
    core.devices.map((device) => device.tracks.map((track) => track.run.started_utc || "").sort().pop())
      .sort();
  const names = core.devices.map((device) => device.short_name).join(", ");
  document.title = `assay: ${names}, ${(dates.pop() || "").slice(0, 10)}`;
  document.getElementById("newest").textContent =
    day(dates.concat(core.runs.map((run) => run.date)).sort().pop() || "");
}

// Without reports there is nothing to show but faults.
function showFaultsAlone(faults) {
  const others = "main > :not(.of-faults), nav, .skip, header .note";
  for (const node of document.querySelectorAll(others)) node.remove();
  document.title = "assay: seeded faults";
  document.getElementById("summary").textContent = faultSentence(faults);
  const note = () => {
    document.documentElement.dataset.state = location.hash;
  };
  addEventListener("hashchange", note);
  note();
}

async function main() {
  if (typeof DecompressionStream === "undefined") {
    document.getElementById("summary").textContent =
      "This browser is too old to show the page: it needs Chromium 111, Firefox 113 or Safari 16.4.";
    return;
  }
  const core = await readCore();
  const faults = await readFaults();
  const isAlone = core.devices.length === 0;
  if (faults) drawFaults(faults, isAlone);
  if (faults && isAlone) {
    showFaultsAlone(faults);
    return;
  }
  title(core);
  drawVerdict(core);
  drawModels(core);
  drawFilters(core);
  const drawing = new Drawing(core);
  addEventListener("hashchange", () => drawing.draw());
  addEventListener("click", (event) => {  // a link to the current state scrolls again
    const link = event.target.closest("a[href^='#']");
    if (link && link.hash === location.hash) drawing.goTo(readState().to);
  });
  watchWidth(drawing);
  await drawing.draw();
}

main();
