// Formats numbers and words for people.

export function significant(value, digits) {
  if (value === null || value === undefined) return "";
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "∞" : "-∞";
  if (value === 0) return "0";
  const text = value.toPrecision(digits);
  return text.includes("e") ? String(Number(text)) : text;
}

// "1 234.5": for display only, not for files.
function grouped(text) {
  const [whole, rest] = text.split(".");
  const spaced = whole.replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
  return rest === undefined ? spaced : `${spaced}.${rest}`;
}

export function count(value) {
  return grouped(String(value));
}

export function micros(value) {
  if (value === null || value === undefined) return "";
  return grouped(value >= 1000 ? value.toFixed(0) : significant(value, 4));
}

export function percent(value) {
  if (value === null || value === undefined) return "";
  return `${value >= 10 ? value.toFixed(0) : value.toFixed(1)}\u00a0%`;
}

export function times(value) {
  if (value === null || value === undefined) return "";
  return `${value >= 100 ? grouped(value.toFixed(0)) : significant(value, 3)}×`;
}

// "1.02×" and "0.98×": as many decimals on both sides of 1.
export function ratioText(value, decimals = 2) {
  return value >= 0.1 && value < 10 ? `${value.toFixed(decimals)}×` : times(value);
}

const scales = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];

// "1.2M" for the ticks of an axis.
export function short(value, digits = 3) {
  for (const [scale, letter] of scales) {
    if (value >= scale) return `${Number((value / scale).toPrecision(digits))}${letter}`;
  }
  return String(Number(value.toPrecision(digits)));
}

// How many significant digits tell each of some ascending ticks from its neighbours.
export function digitsOf(ticks) {
  const gaps = ticks.slice(1).map((tick, place) => tick - ticks[place]);
  const error = Math.min(...gaps, Math.abs(ticks[0]) || 1) / 20;
  for (let digits = 1; digits < 15; ++digits)
    if (ticks.every((tick) => Math.abs(Number(tick.toPrecision(digits)) - tick) <= error)) return digits;
  return 15;
}

export function seconds(value) {
  if (value < 59.5) return `${significant(value, 3)} s`;
  const whole = Math.round(value);
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? `${minutes} min ${whole % 60} s` :
                        `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function day(date) {
  return date.replace("T", " ").replace(/(:\d\d)?(\.\d+)?Z$/, " UTC");
}

// How much of a date to show, from the least on: [from, to] of "2026-11-19T01:00:00Z".
const dateParts = [[5, 10], [5, 16], [5, 19], [0, 10], [0, 16], [0, 19]];

// Short names of runs by their dates, "11-19", as short as it takes to tell them apart. Runs of one second
// are numbered.
export function runNames(dates) {
  const isOneYear = new Set(dates.map((date) => date.slice(0, 4))).size <= 1;
  const parts = isOneYear ? dateParts.slice(0, 3) : dateParts.slice(3);
  const cut = ([from, to]) => dates.map((date) => date.slice(from, to).replace("T", "\u00a0"));
  const all = parts.map(cut);
  const names = all.find((some) => new Set(some).size === dates.length) || all[all.length - 1];
  return names.map((name, place) => {
    const number = names.slice(0, place).filter((other) => other === name).length;
    return number === 0 ? name : `${name} #${number + 1}`;
  });
}

// A date as day() writes it, with seconds where another one is of the same minute.
export function moment(date, others) {
  const isShared = others.some((other) => other !== date && day(other) === day(date));
  return isShared ? date.replace("T", " ").replace(/(\.\d+)?Z$/, " UTC") : day(date);
}

export function plural(number, word) {
  return `${count(number)} ${word}${number === 1 ? "" : "s"}`;
}

// "accu", "perf", "perf, cold"
export function modeWords(info) {
  return info.cache === "" ? info.mode : `${info.mode}, ${info.cache}`;
}

export function geometricMean(values) {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

export function median(values) {
  const sorted = values.slice().sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
