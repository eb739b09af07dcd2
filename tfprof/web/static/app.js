// The frame around all pages: the list of pages, the choices, and the page that the address names.

import { blockView } from "./blocks.js";
import { controlsView } from "./controls.js";
import { el } from "./dom.js";
import { pageSource } from "./source.js";

const source = pageSource();
const main = el("main", { id: "main", tabindex: "-1" });
const nav = el("nav", { "aria-label": "Pages" });
let shown = 0;

// Page and parameters of the address: `#/op-stats?host=a`.
function location_() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return { id: decodeURIComponent(path), params: Object.fromEntries(new URLSearchParams(query)) };
}

function address(id, params) {
  const kept = Object.entries(params).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const query = new URLSearchParams(kept).toString();
  return `#/${encodeURIComponent(id)}${query ? `?${query}` : ""}`;
}

async function show() {
  shown += 1;
  const turn = shown;
  const { id, params } = location_();
  try {
    const site = await source.site(params.run ?? "");
    const wanted = id || site.pages.find((page) => !page.missing)?.id || site.pages[0]?.id;
    drawNav(site, wanted, params);
    main.setAttribute("aria-busy", "true");
    const page = await source.page(wanted, params);
    if (turn === shown) drawPage(page, params);
  } catch (error) {
    if (turn === shown) main.replaceChildren(el("section", { class: "block nothing", role: "alert" }, el("p", {}, error.message)));
  } finally {
    if (turn === shown) main.removeAttribute("aria-busy");
  }
}

// What all pages of a run have in common stays in the address when another page is chosen.
function common(params) {
  const { run, host, step } = params;
  return { run, host, step };
}

function drawNav(site, current, params) {
  const groups = new Map();
  for (const page of site.pages) groups.set(page.group, [...(groups.get(page.group) ?? []), page]);
  const runs = site.runs.length > 1
    ? el("label", { class: "runs" }, "Run", el("select", { onchange: (event) => go(current, { run: event.target.value }) }, site.runs.map((run) => el("option", { value: run.name, selected: run.name === site.run, title: run.source }, run.name))))
    : el("p", { class: "source", title: site.runs[0]?.source }, site.runs[0]?.source ?? "");
  nav.replaceChildren(
    el("p", { class: "brand" }, "tfprof"), runs,
    ...[...groups].map(([group, pages]) => el("div", {}, el("h2", {}, group), el("ul", {}, pages.map((page) => el(
      "li", {}, el("a", {
        href: address(page.id, common(params)), class: page.missing ? "missing" : "", title: page.missing || null,
        "aria-current": page.id === current ? "page" : null,
      }, page.title),
    ))))),
    el("button", { type: "button", class: "theme", onclick: changeTheme }, "Light or dark"),
  );
}

function drawPage(page, params) {
  document.title = `${page.title} · tfprof`;
  const context = { source, params, page, go, look: (changes) => look(page.page, params, changes), address: (id, more) => address(id, { ...common(params), ...more }) };
  main.replaceChildren(
    el("header", {}, el("h1", {}, page.title), el("p", { class: "quiet" }, page.about)),
    ...[controlsView(page, params, context)].filter(Boolean),
    ...page.blocks.map((block) => blockView(block, context)),
  );
  main.dataset.page = page.page;
}

function go(id, params) {
  location.hash = address(id, params);
}

// Keeps how a page is looked at in its address, without another page: names begin with "_".
function look(id, params, changes) {
  Object.assign(params, changes);
  history.replaceState(null, "", address(id, params));
}

function changeTheme() {
  const root = document.documentElement;
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
}

document.body.append(el("a", { class: "skip", href: "#main", onclick: (event) => { event.preventDefault(); main.focus(); } }, "To the page"), nav, main);
addEventListener("hashchange", show);
show();
