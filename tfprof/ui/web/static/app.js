// The frame around all pages: the list of pages, the choices, and the page that the address names.

import { blockView } from "./blocks.js";
import { el } from "./dom.js";
import { countOf } from "./format.js";
import { headOf } from "./page_head.js";
import { PageError, pageSource } from "./source.js";
import { nothingFound } from "./table.js";

/** @import { Page, Params, Site } from "./documents" */
/** @import { Context, Source } from "./types" */

/** @type {Source} */
const source = pageSource();
const PAIR = "compare";
const main = el("main", { id: "main", tabindex: "-1" });
const nav = el("nav", { "aria-label": "Pages" });
let shown = 0;

// Page and parameters of the address: `#/op-stats?host=a`.
function location_() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return { id: decodeURIComponent(path), params: Object.fromEntries(new URLSearchParams(query)) };
}

/**
 * @param {string} id
 * @param {Params} params
 */
function address(id, params) {
  const kept = Object.entries(params).filter(
    ([, value]) => value !== "" && value !== null && value !== undefined,
  );
  const query = new URLSearchParams(kept).toString();
  return `#/${encodeURIComponent(id)}${query ? `?${query}` : ""}`;
}

async function show() {
  shown += 1;
  const turn = shown;
  const { id, params } = location_();
  main.setAttribute("aria-busy", "true");
  try {
    const site = await source.site(params.run ?? "");
    const wanted = id || site.pages.find((page) => !page.missing)?.id || site.pages[0]?.id;
    document.body.classList.toggle("single", site.pages.length === 1 && site.runs.length === 1);
    drawNav(site, wanted, params);
    if (site.trouble) throw new PageError(site.trouble);
    const page = await source.page(wanted, params);
    if (turn === shown) drawPage(page, params);
  } catch (error) {
    if (turn === shown) main.replaceChildren(errorView(error, id, params));
  } finally {
    if (turn === shown) main.removeAttribute("aria-busy");
  }
}

/**
 * What is wrong, and a way on: parameters that a run cannot have would come along to all pages.
 *
 * @param {any} error
 * @param {string} id
 * @param {Params} params
 */
function errorView(error, id, params) {
  const chosen = Object.keys(params).some((name) => name !== "run");
  return el(
    "section.block.nothing",
    el("h1", "This page cannot be shown"),
    el("p", { role: "alert" }, error.message),
    chosen ? el("p", el("a", { href: address(id, { run: params.run }) }, "Show it without settings")) : null,
  );
}

/**
 * What all pages of a run have in common stays in the address when another page is chosen.
 *
 * @param {Params} params
 */
function common(params) {
  const { run, against, host, step } = params;
  return { run, against, host, step };
}

/**
 * @param {Site} site
 * @param {string} current
 * @param {Params} params
 */
function drawNav(site, current, params) {
  /** @type {Map<string, Site["pages"]>} */
  const groups = new Map();
  const isSeen = (/** @type {Site["pages"][number]} */ page) => !page.missing || page.id === current;
  for (const page of site.pages.filter(isSeen))
    groups.set(page.group, [...(groups.get(page.group) ?? []), page]);
  const missing = site.pages.filter((page) => page.missing);
  // A report holds some comparisons only, a server makes all.
  const others = site.runs.filter((run) =>
    site.compared ? (site.compared[site.run] ?? []).includes(run.name) : run.name !== site.run,
  );
  const runs =
    site.runs.length > 1
      ? el(
          "div",
          runChoice("Run", site.runs, site.run, (run) => goToRun(run, current)),
          others.length
            ? runChoice(
                "Compare with",
                [{ name: "", source: "" }, ...others],
                params.against ?? "",
                (against) => goToPair(site, current, params, against),
              )
            : null,
        )
      : el("p.source", { title: site.runs[0]?.source }, site.runs[0]?.source ?? "");
  const withoutData =
    missing.length && site.pages.some((page) => page.id === "contents")
      ? el(
          "a.quiet",
          { href: address("contents", common(params)), title: missing.map((page) => page.title).join(", ") },
          `${countOf(missing.length, "page")} without data`,
        )
      : "";
  nav.replaceChildren(
    el("p.brand", "tfprof ", el("small", site.version)),
    runs,
    ...[...groups].map(([group, pages]) =>
      el(
        "div",
        group && el("h2", group),
        el(
          "ul",
          pages.map((page) =>
            el(
              "li",
              el(
                "a",
                {
                  href: address(page.id, {
                    ...common(params),
                    ...(page.id === PAIR && { against: params.against || others[0]?.name }),
                  }),
                  title: page.missing || null,
                  "aria-current": page.id === current ? "page" : null,
                },
                page.title,
              ),
            ),
          ),
        ),
      ),
    ),
    withoutData,
    el("button.theme", { onclick: changeTheme }, "Light or dark"),
  );
}

/**
 * @param {string} label
 * @param {Site["runs"]} runs
 * @param {string} chosen
 * @param {(value: any) => void} choose
 */
function runChoice(label, runs, chosen, choose) {
  return el(
    "label.runs",
    label,
    el(
      "select",
      { "aria-label": label, onchange: (event) => choose(event.target.value) },
      runs.map((run) =>
        el(
          "option",
          { value: run.name, selected: run.name === chosen, title: run.source },
          run.name || "(none)",
        ),
      ),
    ),
  );
}

/**
 * @param {Page} page
 * @param {Params} params
 */
function drawPage(page, params) {
  document.title = `${page.title} · tfprof`;
  /** @type {Context} */
  const context = {
    source,
    params,
    page,
    go,
    look: (changes) => look(page.page, params, changes),
    address: (id, more) => address(id, { ...common(params), ...more }),
    visit: (id, more) => go(id, { ...common(params), ...more }),
  };
  const { head, blocks } = headOf(page, params, context);
  main.replaceChildren(
    head,
    el("p.nothing-found", { role: "status" }, nothingFound(page.blocks, params)),
    ...blocks.map((block) => blockView(block, context)),
  );
  main.dataset.page = page.page;
}

/**
 * The page of two runs, if there is one: a report may hold others only.
 *
 * @param {Site} site
 * @param {string} current
 * @param {Params} params
 * @param {string} against
 */
function goToPair(site, current, params, against) {
  if (against && site.pages.some((page) => page.id === PAIR)) go(PAIR, { ...common(params), against });
  else go(current === PAIR ? "" : current, { ...params, against });
}

/**
 * The same page of another run; its first page if it has none of this name.
 *
 * @param {string} run
 * @param {string} current
 */
async function goToRun(run, current) {
  const pages = await source.site(run).then(
    (site) => site.pages,
    () => [],
  );
  go(pages.some((page) => page.id === current) ? current : "", { run });
}

/**
 * @param {string} id
 * @param {Params} params
 */
function go(id, params) {
  location.hash = address(id, params);
}

/**
 * Keeps how a page is looked at in its address, without another page: names begin with "_".
 *
 * @param {string} id
 * @param {Params} params
 * @param {Params} changes
 */
function look(id, params, changes) {
  Object.assign(params, changes);
  history.replaceState(null, "", address(id, params));
}

function changeTheme() {
  const root = document.documentElement;
  const isDark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
}

document.body.append(
  el(
    "a.skip",
    {
      href: "#main",
      onclick: (event) => {
        event.preventDefault();
        main.focus();
      },
    },
    "To the page",
  ),
  nav,
  main,
);
addEventListener("hashchange", show);
// In a frame of a notebook, the base of addresses is the notebook's.
addEventListener("click", (/** @type {any} */ event) => {
  const link = event.target.closest?.('a[href^="#/"], a[xlink\\:href^="#/"]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  location.hash = link.getAttribute("href");
});
show();
