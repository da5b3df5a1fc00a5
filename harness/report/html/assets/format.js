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

const scales = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];

// "1.2 M" for the ticks of an axis.
export function short(value) {
  for (const [scale, letter] of scales) {
    if (value >= scale) return `${Number((value / scale).toPrecision(3))}${letter}`;
  }
  return String(Number(value.toPrecision(3)));
}

export function seconds(value) {
  if (value < 60) return `${significant(value, 3)} s`;
  const minutes = Math.floor(value / 60);
  return minutes < 60 ? `${minutes} min ${Math.round(value % 60)} s` :
                        `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function day(date) {
  return date.replace("T", " ").replace(/(:\d\d)?(\.\d+)?Z$/, " UTC");
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
