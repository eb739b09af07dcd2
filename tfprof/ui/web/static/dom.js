// Elements of the page. Text is set as text, never as markup: names come from strangers' files.

/** @import { Attributes, Child } from "./types" */

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element such as "p.quiet" with its classes, perhaps attributes, and children. `on…` attributes
 * are listeners, `style` is an object of CSS properties (set one by one: the content policy forbids
 * style attributes), null leaves out.
 *
 * @param {string} name
 */
/**
 * @param {string} name
 * @param {...(Attributes | Child)} rest
 * @returns {any}
 */
export function el(name, ...rest) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag);
  if (tag === "button") element.setAttribute("type", "button");
  return filled(element, classes, rest);
}

/**
 * The same for SVG.
 *
 * @param {string} name
 */
/**
 * @param {string} name
 * @param {...(Attributes | Child)} rest
 * @returns {any}
 */
export function svg(name, ...rest) {
  const [tag, ...classes] = name.split(".");
  return filled(document.createElementNS(SVG, tag), classes, rest);
}

/**
 * @param {any} element
 * @param {string[]} classes
 * @param {any[]} rest
 */
function filled(element, classes, rest) {
  const hasAttributes = rest[0] && Object.getPrototypeOf(rest[0]) === Object.prototype;
  for (const [name, value] of Object.entries(hasAttributes ? rest.shift() : {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") {
      for (const [property, text] of Object.entries(value)) element.style.setProperty(property, text);
    } else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.classList.add(...classes);
  element.append(...rest.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/**
 * Buttons that show a sign, with what they do.
 *
 * @param {[string, string, () => void][]} buttons
 */
export function buttonsOf(buttons) {
  return buttons.map(([sign, title, onclick]) => el("button", { title, "aria-label": title, onclick }, sign));
}

/**
 * The step of an arrow key to the left or the right; 0 for other keys.
 *
 * @param {KeyboardEvent} event
 */
export function sideStep({ key }) {
  return key === "ArrowLeft" ? -1 : key === "ArrowRight" ? 1 : 0;
}

/**
 * Where an event of the pointer is in the coordinates of an SVG picture.
 *
 * @param {any} picture
 * @param {any} event
 */
export function svgPoint(picture, event) {
  return new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM().inverse());
}

/**
 * Calls `act` when the page becomes light or dark.
 *
 * @param {(...given: any[]) => void} act
 */
export function onThemeChange(act) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", act);
  new MutationObserver(act).observe(document.documentElement, { attributeFilter: ["data-theme"] });
}

/**
 * Tells a view when it is printed: paper does not scroll. `draw(isPrinted)` until `view` has left the page.
 *
 * @param {Element} view
 * @param {(isPrinted: boolean) => void} draw
 */
export function onPaper(view, draw) {
  /** @param {Event} event */
  const act = ({ type }) => {
    if (view.isConnected) draw(type === "beforeprint");
    else for (const name of PRINTING) removeEventListener(name, act);
  };
  for (const name of PRINTING) addEventListener(name, act);
}

const PRINTING = ["beforeprint", "afterprint"];

/**
 * Calls `act` once after the last of many calls in a row.
 *
 * @param {(...given: any[]) => void} act
 */
export function later(act, delay_ms = 120) {
  let timer = 0;
  /** @param {any[]} given */
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => act(...given), delay_ms);
  };
}
