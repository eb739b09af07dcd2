// Elements of the page. Text is set as text, never as markup: names come from strangers' files.

const SVG = "http://www.w3.org/2000/svg";

// An element with attributes and children. `on…` attributes are listeners, `style` is an object of
// CSS properties (set one by one: the content policy forbids style attributes), null leaves out.
export function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

// The same for SVG.
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") {
      for (const [property, text] of Object.entries(value)) element.style.setProperty(property, text);
    } else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

// Tells a view when it is printed: paper does not scroll. `draw(isPrinted)` until `view` has left the page.
export function onPaper(view, draw) {
  const act = ({ type }) => {
    if (view.isConnected) draw(type === "beforeprint");
    else for (const name of PRINTING) removeEventListener(name, act);
  };
  for (const name of PRINTING) addEventListener(name, act);
}

const PRINTING = ["beforeprint", "afterprint"];

// Rows of a table that are printed; a line says how many are not.
export const MOST_PRINTED = 1000;

// The last line of a printed table, if there is more.
export function notPrinted(rows, columns) {
  return rows > 0 ? el("tr", {}, el("td", { class: "text", colspan: columns }, `${rows.toLocaleString("en-US")} more rows are not printed.`)) : null;
}

// Calls `act` once after the last of many calls in a row.
export function later(act, delay_ms = 120) {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => act(...given), delay_ms);
  };
}
