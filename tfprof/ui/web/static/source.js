// Where documents come from: the local server, or the report that this page is in.

/** @import { Params } from "./documents" */

// What went wrong, in the library's words.
export class PageError extends Error {}

// The source of this page.
export function pageSource() {
  return document.getElementById("site") ? new EmbeddedSource() : new ServedSource();
}

/**
 * Parameters that begin with "_" only tell how a page is looked at: its document is the same.
 *
 * @param {Params} params
 */
function addressOf(params) {
  const kept = Object.entries(params).filter(
    ([name, value]) => value !== "" && value !== null && value !== undefined && !name.startsWith("_"),
  );
  return new URLSearchParams(kept.sort(([a], [b]) => (a < b ? -1 : 1))).toString();
}

// What is searched for and selected on a page: its document is the same, and a report holds it once.
const LOOKED_FOR = new Set(["find", "t0", "t1", "r0", "r1", "sel"]);

/** @param {Params} params */
function documentParams(params) {
  return Object.fromEntries(Object.entries(params).filter(([name]) => !LOOKED_FOR.has(name)));
}

// Documents of a local server; the latest are cached.
class ServedSource {
  isLive = true;
  #kept = new Map();
  #changes = new Map();
  // Beside the folder of this module: also where TensorBoard serves both.
  #base = new URL("../", import.meta.url);

  // What is kept of a run whose files have changed is of no use.
  async site(run = "") {
    const site = await this.#json(`api/site?${addressOf({ run })}`, false);
    if ((this.#changes.get(site.run) ?? site.changes) !== site.changes) this.#kept.clear();
    this.#changes.set(site.run, site.changes);
    return site;
  }

  /**
   * @param {string} id
   * @param {Params} params
   */
  page(id, params) {
    return this.#json(`api/page/${encodeURIComponent(id)}?${addressOf(documentParams(params))}`);
  }

  /**
   * @param {string} path
   * @param {Params} params
   */
  data(path, params) {
    return this.#json(`api/${path}?${addressOf(params)}`);
  }

  /** @param {string} address */
  async #json(address, isKept = true) {
    if (this.#kept.has(address)) return this.#kept.get(address);
    let answer;
    try {
      answer = await fetch(new URL(address, this.#base), { headers: { Accept: "application/json" } });
    } catch {
      throw new PageError("The server does not answer. Is “tfprof ui” still running?");
    }
    const document = await answer.json().catch(() => null);
    if (!answer.ok || !document) {
      throw new PageError(document?.error ?? `The server answered with status ${answer.status}.`);
    }
    if (!isKept) return document;
    this.#kept.set(address, document);
    if (this.#kept.size > 40) this.#kept.delete(this.#kept.keys().next().value);
    return document;
  }
}

// Documents that are in this file, packed.
class EmbeddedSource {
  isLive = false;
  #first = JSON.parse(document.getElementById("site")?.textContent ?? "");

  async site(run = "") {
    return this.#isFirst(run) ? this.#first : this.#packed("site", { run });
  }

  /**
   * @param {string} id
   * @param {Params} params
   */
  page(id, params) {
    return this.#packed(`page/${id}`, documentParams(params));
  }

  /**
   * @param {string} path
   * @param {Params} params
   */
  data(path, params) {
    return this.#packed(path, params);
  }

  /**
   * Documents of the first run have addresses without its name; a report of one run knows no other.
   *
   * @param {string} run
   */
  #isFirst(run) {
    return !run || run === this.#first.run || this.#first.runs.length === 1;
  }

  /**
   * @param {string} path
   * @param {Params} params
   */
  async #packed(path, { run, ...others }) {
    const holder = document.getElementById(
      `${path}?${addressOf(this.#isFirst(run) ? others : { run, ...others })}`,
    );
    if (!holder) {
      throw new PageError(
        "This report does not hold that: it was written with other settings. “tfprof ui” shows everything.",
      );
    }
    const packed = Uint8Array.from(atob(holder.textContent), (char) => char.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).json();
  }
}
