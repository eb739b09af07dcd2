// One frame of the picture: which rows are seen, what is drawn of them, and what is where.

import { counted, numberText } from "./format.js";
import { drawTraceCounter, traceCounterValues } from "./trace_counters.js";
import { traceEachMark, traceParts, tracePrefetch } from "./trace_draw.js";
import { TRACE_LANE_PX, traceLayout, traceVisible } from "./trace_layout.js";
import { drawTraceNotes } from "./trace_notes.js";

/** @import { TracePalette } from "./trace_colours.js" */
/** @import { TraceBusy } from "./trace_busy.js" */
/** @import { TraceCounters } from "./trace_counters.js" */
/** @import { TracePainter } from "./trace_draw.js" */
/** @import { TraceFlows } from "./trace_flows.js" */
/** @import { TraceHits } from "./trace_hits.js" */
/** @import { TraceState } from "./trace_state.js" */
/** @import { Mark, Part, Row, SeenRow, Steps, Tiles, TraceBrief, TraceEvent, Visible } from "./types" */

export class TraceScene {
  /** @type {Visible} */
  visible = { pinned: [], rows: [] };
  n_drawn = 0;

  /**
   * @param {TraceState} state
   * @param {TracePainter} painter
   * @param {TraceCounters} counters
   * @param {Steps} steps
   * @param {TraceFlows} flows
   * @param {TraceBusy} busy
   */
  constructor(state, painter, counters, steps, flows, busy) {
    this.state = state;
    this.painter = painter;
    this.counters = counters;
    this.steps = steps;
    this.flows = flows;
    this.busy = busy;
    this.layout = traceLayout(state.block, state);
  }

  // What is in sight.
  get seen() {
    return [...this.visible.pinned, ...this.visible.rows];
  }

  relayout() {
    this.layout = traceLayout(this.state.block, this.state);
  }

  /**
   * @param {Tiles} tiles
   * @param {TracePalette} palette
   * @param {number} scrollTop
   * @param {TraceHits | null} hits
   */
  draw(tiles, palette, scrollTop, hits) {
    const { painter, state, layout } = this;
    this.visible = traceVisible(layout, scrollTop, painter.height);
    painter.clear(palette);
    this.n_drawn = 0;
    const top = layout.pinnedHeight;
    /** @param {SeenRow[]} rows */
    const drawRows = (rows) => {
      for (const row of rows) this.#row(row, tiles, palette, hits);
    };
    painter.clipped(top, painter.height - top, () => drawRows(this.visible.rows));
    drawRows(this.visible.pinned);
    painter.steps(this.steps, state, palette);
    const rows = state.tracks.size ? this.seen.filter((row) => this.#isSelected(row)) : null;
    if (state.base) painter.range(...state.base, state, palette, true);
    if (state.range) painter.range(...state.range, state, palette, false, rows);
    drawTraceNotes(painter, state, palette, false);
    this.#flows(palette);
    const seen = this.#rowOf(state.event?.track);
    if (state.event && seen) painter.outline(this.#rect(seen, state.event), palette);
    for (const row of this.seen) if (row.kind === "track") tracePrefetch(tiles, state, row.number);
    if (tiles.isWaiting) painter.message("…", palette);
    if (tiles.error) painter.message(tiles.error, palette);
  }

  /**
   * @param {SeenRow} row
   * @param {Tiles} tiles
   * @param {TracePalette} palette
   * @param {TraceHits | null} hits
   */
  #row(row, tiles, palette, hits) {
    const { painter, state } = this;
    painter.ground(row, palette, this.#isSelected(row));
    if (row.kind !== "counter") this.busy.draw(painter, row, palette);
    if (row.kind === "track" || row.kind === "query") {
      const marked = row.kind === "track" ? hits : null;
      this.n_drawn += painter.track(row, this.#parts(row, tiles), state, palette, marked);
    }
    if (row.kind === "counter") {
      const series = this.counters.get(row.number);
      if (series) drawTraceCounter(painter, row, series, state, palette);
    }
  }

  /**
   * What a row has to draw: the answer of a statement at any zoom, or tiles of a track.
   *
   * @param {Row} row
   * @param {Tiles} tiles
   * @returns {Part[]}
   */
  #parts(row, tiles) {
    if (row.kind === "track") return traceParts(tiles, this.state, row.number);
    return [{ lanes: this.state.queries[row.number].lanes, from: -Infinity, to: Infinity }];
  }

  /** @param {Row} row */
  #isSelected(row) {
    return row.kind === "track" && this.state.tracks.has(row.number);
  }

  /**
   * Tracks between two heights of the picture; those of folded processes with them.
   *
   * @param {number} y
   * @param {number} other
   * @returns {Set<number>}
   */
  tracksBetween(y, other) {
    const { block, folded, order } = this.state;
    const [top, bottom] = [Math.min(y, other), Math.max(y, other)];
    const rows = this.seen.filter((row) => {
      const begin = row.isPinned ? row.top : Math.max(row.top, this.layout.pinnedHeight);
      return begin <= bottom && row.top + row.height > top;
    });
    return new Set(
      rows.flatMap(({ kind, number }) =>
        kind === "track"
          ? [number]
          : kind === "process" && folded.has(number)
            ? order.filter((track) => block.tracks[track].process === number)
            : [],
      ),
    );
  }

  /** @param {number | undefined} track */
  #rowOf(track) {
    return this.seen.find((row) => row.kind === "track" && row.number === track);
  }

  /**
   * @param {SeenRow} row
   * @param {TraceEvent} event
   */
  #rect(row, event) {
    const x = this.state.xOf(event.start);
    return {
      x,
      y: row.top + event.lane * TRACE_LANE_PX,
      width: Math.max(this.state.xOf(event.start + event.duration) - x, 2),
    };
  }

  /**
   * The middle of an event on the screen; where its track is out of sight, at the edge.
   *
   * @param {number} track
   * @param {number} lane
   * @param {number} time
   */
  #point(track, lane, time) {
    const row = this.#rowOf(track);
    const x = this.state.xOf(time);
    if (row) return { x, y: row.top + (lane + 0.5) * TRACE_LANE_PX, isHidden: false };
    const hidden = this.layout.rows.find((each) => each.kind === "track" && each.number === track);
    const first = this.visible.rows[0];
    if (!hidden) return null;
    const edge = first && hidden.y < first.y ? this.layout.pinnedHeight : this.painter.height;
    return { x, y: edge, isHidden: true };
  }

  /** @param {TracePalette} palette */
  #flows(palette) {
    const { state, painter } = this;
    const { arrows } = this.flows;
    if (arrows) {
      const made = [];
      for (let at = 0; at < arrows.from_track.length; at += 1) {
        const [from, to] = ["from", "to"].map((side) =>
          this.#point(arrows[`${side}_track`][at], arrows[`${side}_lane`][at], arrows[`${side}_ps`][at]),
        );
        if (from && to && !(from.isHidden && to.isHidden)) made.push([from.x, from.y, to.x, to.y]);
      }
      painter.arrows(made, palette.ink, made.length > 200 ? 0.12 : 0.35);
    }
    if (!state.event) return;
    const here = this.#point(state.event.track, state.event.lane, state.event.start);
    if (!here) return;
    /**
     * @param {TraceBrief[]} found
     * @param {boolean} isTo
     */
    const lines = (found, isTo) =>
      found.flatMap((each) => {
        const there = this.#point(each.track, each.lane, each.start);
        if (!there) return [];
        return [isTo ? [here.x, here.y, there.x, there.y] : [there.x, there.y, here.x, here.y]];
      });
    painter.arrows(lines(state.event.incoming, false), palette.bad, 0.9);
    painter.arrows(lines(state.event.outgoing, true), palette.focus, 0.9);
  }

  /**
   * What is at a position: the row, and the mark there.
   *
   * @param {Tiles} tiles
   * @param {number} x
   * @param {number} y
   * @returns {{ row: SeenRow | null, mark: Mark | null }}
   */
  hit(tiles, x, y) {
    const { layout, visible, state } = this;
    const rows = y < layout.pinnedHeight ? visible.pinned : visible.rows;
    const row = rows.find((each) => y >= each.top && y < each.top + each.height);
    if (row?.kind !== "track" && row?.kind !== "query") return { row: row ?? null, mark: null };
    /** @param {number} place */
    const idOf = (place) =>
      row.kind === "query" ? state.queries[row.number].ids[place] : `${row.number}.${place}`;
    const wanted = Math.floor((y - row.top - 1) / TRACE_LANE_PX);
    /** @type {Mark | null} */
    let mark = null;
    let nearest = 4;
    traceEachMark(this.#parts(row, tiles), state, (lane, at) => {
      if (lane.lane !== wanted) return;
      const [from, to] = [state.xOf(lane.starts[at]), state.xOf(lane.ends[at])];
      const away = x < from ? from - x : x > to ? x - to : 0;
      if (away > nearest || (away === nearest && mark)) return;
      nearest = away;
      mark = {
        id: idOf(lane.places[at]),
        name: lane.names[at],
        count: lane.counts[at],
        busy: lane.busy[at],
        start: lane.starts[at],
        end: lane.ends[at],
        track: row.number,
        lane: lane.lane,
      };
    });
    return { row, mark };
  }

  /**
   * What a tooltip says of what is at a position: the mark, or the values of the counter.
   *
   * @param {{ row: SeenRow | null, mark: Mark | null }} hit
   * @param {number} x
   */
  wordsOf({ row, mark }, x) {
    if (mark) {
      const span = numberText(mark.end - mark.start, "ps");
      if (mark.count === 1) return [mark.name, span];
      const busy = `busy ${numberText(mark.busy, "ps")}; longest: ${mark.name}`;
      return [`${counted(mark.count)} events in ${span}`, busy, "click to zoom in"];
    }
    if (row && row.kind !== "counter") return this.busy.words(row, this.state.timeAt(x));
    const series = row ? this.counters.get(row.number) : null;
    const { counters } = this.state.block;
    return row && series
      ? [counters[row.number].name, ...traceCounterValues(series, this.state.timeAt(x))]
      : [];
  }
}
