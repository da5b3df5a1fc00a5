// Creates elements. Text from reports is always set as text or as the value of an attribute, never as
// markup.

export function element(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const name of Object.keys(attributes || {})) {
    const value = attributes[name];
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on"))
      node.addEventListener(name.slice(2), value);
    else
      node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

export function replaceContent(id, ...children) {
  const node = document.getElementById(id);
  node.replaceChildren(...children.filter((child) => child !== null));
  return node;
}

export function link(fragment, ...children) {
  return element("a", {href: fragment}, ...children);
}

// A labelled choice; `options` are [value, text].
export function choice(label, options, value, onchange) {
  const select = element("select", {onchange: () => onchange(select.value)},
    ...options.map(([key, text]) => element("option", {value: key}, text)));
  select.value = value;
  return element("label", {class: "choice"}, element("span", {}, label), select);
}

// A scrollable box for content that is wider than the page; the keyboard can reach it.
export function scrolling(label, node) {
  return element("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": label}, node);
}

export function note(...text) {
  return element("p", {class: "note"}, ...text);
}

// A table of ops, or what `corner` says, and coloured cells; `lines` are [name, cells].
export function heatTable(caption, corner, heads, lines) {
  const table = element("table", {class: heads.length > 2 ? "heat-map many" : "heat-map"},
    element("caption", {}, caption),
    element("thead", {},
      element("tr", {}, element("th", {scope: "col"}, corner),
        ...heads.map((head) => element("th", {scope: "col"}, head)))),
    element("tbody", {},
      ...lines.map(([name, cells]) => element("tr", {}, element("th", {scope: "row"}, name), ...cells))));
  table.style.setProperty("--columns", heads.length);  // for narrow windows: style.css
  return table;
}

const shownDigits = 12;

// A hash in a short form, with the whole one as its title; `other` is one that it must differ from.
export function hash(whole, other = "") {
  let digits = shownDigits;
  while (other !== whole && digits < whole.length && other.slice(0, digits) === whole.slice(0, digits))
    digits += 1;
  if (digits >= whole.length - 1) return element("code", {class: "hash"}, whole);
  return element("code", {class: "hash", title: whole}, `${whole.slice(0, digits)}…`);
}

export function saveFile(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], {type}));
  const anchor = element("a", {href: url, download: name});
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
