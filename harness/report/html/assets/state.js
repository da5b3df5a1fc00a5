// The state of the view is in the URL's fragment, so that a view can be shared.

// Keys of filters, in the order in which they are shown.
export const filterKeys =
  ["q", "op", "impl", "status", "failure", "verdict", "mode", "tier", "model", "device"];

export function readState() {
  const state = {};
  for (const [key, value] of new URLSearchParams(location.hash.slice(1))) state[key] = value;
  return state;
}

// The fragment of a state; keys without a value are left out.
export function fragment(state) {
  const parameters = new URLSearchParams();
  for (const key of Object.keys(state)) {
    if (state[key] !== "" && state[key] !== undefined && state[key] !== null) parameters.set(key, state[key]);
  }
  return `#${parameters.toString()}`;
}

// The fragment of the current state with some keys changed. The target of a link (`to`) is not kept.
export function changed(changes) {
  return fragment(Object.assign(readState(), {to: ""}, changes));
}

// Changes the state, which fires `hashchange` and redraws the page. Adds no entry to the browser's history.
export function change(changes) {
  location.replace(changed(changes));
}

export function clearFilters() {
  const none = {};
  for (const key of filterKeys) none[key] = "";
  return none;
}

// The name of a row in the fragment: "H100:perf,cold:op/name/...".
export function rowName(row) {
  const cache = row.case.cache === "" ? "" : `,${row.case.cache}`;
  return `${row.device.short_name}:${row.case.mode}${cache}:${row.case.id}`;
}

export function findRow(rows, name) {
  return rows.find((row) => rowName(row) === name);
}

// Whether a glob matches a whole text, as glob_matches() of --filter does. A regular expression with many
// stars can take years, and a link can bring one. On a mismatch the last star takes one more character;
// earlier stars never need another try.
function globMatches(pattern, text) {
  let p = 0, t = 0, afterStar = -1, starText = 0;
  while (t < text.length) {
    if (pattern[p] === "*") {
      afterStar = ++p;
      starText = t;
    } else if (p < pattern.length && (pattern[p] === "?" || pattern[p] === text[t])) {
      p++;
      t++;
    } else if (afterStar >= 0) {
      p = afterStar;
      t = ++starText;
    } else {
      return false;
    }
  }
  while (pattern[p] === "*") p++;
  return p === pattern.length;
}

// A text with * or ? is a glob over ids, any other text a part of an id.
function textFilter(wanted) {
  const text = wanted.trim().toLowerCase();
  if (!/[*?]/.test(text)) return (id) => id.toLowerCase().includes(text);
  return (id) => globMatches(text, id.toLowerCase());
}

// The rows that match the filters of a state.
export function filtered(rows, state) {
  const tests = [];
  const add = (key, test) => {
    if (state[key]) tests.push(test);
  };
  const hasText = textFilter(state.q || "");
  add("q", (row) => hasText(row.case.id));
  add("op", (row) => row.case.op === state.op);
  add("impl", (row) => row.case.impl === state.impl);
  add("status", (row) => row.status === state.status || row.status_class === state.status);
  add("failure", (row) => row.failure === state.failure);
  add("verdict", (row) => row.verdict === state.verdict);
  add("mode", (row) => row.case.mode === state.mode);
  add("tier", (row) => row.case.tier === state.tier);
  add("model", (row) => row.case.model === state.model);
  add("device", (row) => row.device.short_name === state.device);
  return rows.filter((row) => tests.every((test) => test(row)));
}
