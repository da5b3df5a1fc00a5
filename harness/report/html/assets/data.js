// Reads the data embedded in the page: parts of JSON, deflated and in base64
// (harness/report/html/page_data.h).

const parts = new Map();

async function unpack(element) {
  const bytes = Uint8Array.from(atob(element.textContent), (character) => character.charCodeAt(0));
  element.remove();  // its text is not needed again
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

// Returns a part by its name; each is read only once.
export function readPart(name) {
  if (!parts.has(name)) parts.set(name, unpack(document.getElementById(name)));
  return parts.get(name);
}

const notFinite = {
  nan: NaN,
  inf: Infinity,
  "-inf": -Infinity
};

// A column as a function from a row to its value: a word, or a number (null if there is none).
function reader(column) {
  if (!Array.isArray(column)) return (row) => column.words[column.rows[row]];
  return (row) => (column[row] in notFinite ? notFinite[column[row]] : column[row]);
}

// Converts columns of equal length to objects, one per row.
function objectsOf(columns, length) {
  const readers = Object.keys(columns).map((name) => [name, reader(columns[name])]);
  return Array.from({length}, (_, row) => {
    const object = {};
    for (const [name, read] of readers) object[name] = read(row);
    return object;
  });
}

// Adds the values that charts need and the journal does not hold.
function derive(row) {
  row.gbps = row.time_us > 0 ? row.bytes / row.time_us / 1e3 : null;
  row.gops = row.time_us > 0 && row.ops > 0 ? row.ops / row.time_us / 1e3 : null;
  row.gops_per_joule = row.energy_j > 0 && row.ops > 0 ? row.ops / row.energy_j / 1e9 : null;
  row.intensity = row.ops > 0 && row.bytes > 0 ? row.ops / row.bytes : null;
}

// {runs, statuses, fact_columns, devices, rows}: each row knows its case, its device and its place in the
// parts of that device.
export async function readCore() {
  const core = await readPart("core");
  const cases = objectsOf(core.cases, core.cases.id.length);
  cases.forEach((one, number) => Object.assign(one, {number}));
  const rows = objectsOf(core.rows, core.rows.case.length);
  const counts = core.devices.map(() => 0);
  core.devices.forEach((device, number) => Object.assign(device, {number}));
  for (const row of rows) {
    row.place = counts[row.device]++;
    row.device = core.devices[row.device];
    row.track = row.device.tracks[row.track];
    row.case = cases[row.case];
    row.status_class = row.status === "" ? "" : core.statuses[row.status];
    derive(row);
  }
  return Object.assign({}, core, {rows});
}

// Everything that is known about a row: its facts, its samples and its history.
export async function readRow(row) {
  const number = row.device.number;
  const [facts, samples, history] =
    await Promise.all(["facts", "samples", "history"].map((part) => readPart(`${part}-${number}`)));
  return {
    facts: facts[row.place],
    samples: samples[row.place],
    history: history.rows[row.place],
    statusNames: history.words,
  };
}

export async function readFacts(row) {
  return (await readPart(`facts-${row.device.number}`))[row.place];
}
