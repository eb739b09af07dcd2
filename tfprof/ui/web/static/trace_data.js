// Answers about a trace: from the local server, or from what a report holds.

import { TraceEmbedded } from "./trace_embedded.js";
import { TraceServedTiles } from "./trace_tiles.js";

// The data of a trace block; `onChange` is called when a tile has come.
export async function traceData(block, context, onChange) {
  // Of two runs on one page, each trace names its own.
  const run = block.of_run ?? context.params.run ?? "";
  const ask = (path, params = {}) => context.source.data(`trace/${path}`, { run, ...params });
  if (context.source.isLive) return new TraceServed(ask, onChange);
  const made = new TraceEmbedded(ask, block);
  await made.open();
  return made;
}

class TraceServed {
  remark = "";
  isWhole = true;
  hasWholeNames = true;

  constructor(ask, onChange) {
    this.ask = ask;
    this.tiles = new TraceServedTiles(ask, onChange);
  }

  event(id) {
    return this.ask("event", { id });
  }

  search(text, isRegex) {
    return this.ask("search", { text, regex: isRegex ? 1 : "" });
  }

  find(text, isRegex, id, time, isBackwards) {
    return this.ask("find", {
      text,
      regex: isRegex ? 1 : "",
      id,
      t0: Math.round(time),
      backwards: isBackwards ? 1 : "",
    });
  }

  range(t0, t1, tracks) {
    return this.ask("range", { t0, t1, tracks });
  }

  events(t0, t1, tracks) {
    return this.ask("events", { t0, t1, tracks });
  }

  flows(t0, t1) {
    return this.ask("flows", { t0, t1 });
  }

  counters(t0, t1, pixels) {
    return this.ask("counters", { t0, t1, pixels });
  }
}
