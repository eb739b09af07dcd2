// One frame of the picture: which rows are seen, what is drawn of them, and what is where.

import { counted, numberText } from "./format.js";
import { drawTraceCounter, traceCounterValues } from "./trace_counters.js";
import { traceEachMark, traceParts, tracePrefetch } from "./trace_draw.js";
import { TRACE_LANE_PX, traceLayout, traceVisible } from "./trace_layout.js";

export class TraceScene {
  constructor(state, painter, counters, steps, flows) {
    Object.assign(this, { state, painter, counters, steps, flows });
    this.visible = { pinned: [], rows: [] };
    this.n_drawn = 0;
    this.relayout();
  }

  relayout() {
    this.layout = traceLayout(this.state.block, this.state);
  }

  draw(tiles, palette, scrollTop, isWanted) {
    const { painter, state, layout } = this;
    this.visible = traceVisible(layout, scrollTop, painter.height);
    painter.clear(palette);
    this.n_drawn = 0;
    const top = layout.pinnedHeight;
    const drawRows = (rows) => {
      for (const row of rows) this.#row(row, tiles, palette, isWanted);
    };
    painter.clipped(top, painter.height - top, () => drawRows(this.visible.rows));
    drawRows(this.visible.pinned);
    painter.steps(this.steps, state, palette);
    if (state.range) painter.range(...state.range, state, palette);
    this.#flows(palette);
    const seen = this.#rowOf(state.event?.track);
    if (state.event && seen) painter.outline(this.#rect(seen, state.event), palette);
    for (const row of [...this.visible.rows, ...this.visible.pinned])
      if (row.kind === "track") tracePrefetch(tiles, state, row.number);
    if (tiles.isWaiting) painter.message("…", palette);
    if (tiles.error) painter.message(tiles.error, palette);
  }

  #row(row, tiles, palette, isWanted) {
    const { painter, state } = this;
    painter.ground(row, palette, row.kind === "track" && state.track === row.number);
    if (row.kind === "track")
      this.n_drawn += painter.track(row, traceParts(tiles, state, row.number), state, palette, isWanted);
    if (row.kind === "counter") {
      const series = this.counters.get(row.number);
      if (series) drawTraceCounter(painter, row, series, state, palette);
    }
  }

  #rowOf(track) {
    return [...this.visible.pinned, ...this.visible.rows].find(
      (row) => row.kind === "track" && row.number === track,
    );
  }

  #rect(row, event) {
    const x = this.state.xOf(event.start);
    return {
      x,
      y: row.top + event.lane * TRACE_LANE_PX,
      width: Math.max(this.state.xOf(event.start + event.duration) - x, 2),
    };
  }

  // The middle of an event on the screen; where its track is out of sight, at the edge.
  #point(track, lane, time) {
    const row = this.#rowOf(track);
    if (row) return [this.state.xOf(time), row.top + (lane + 0.5) * TRACE_LANE_PX];
    const hidden = this.layout.rows.find((each) => each.kind === "track" && each.number === track);
    const first = this.visible.rows[0];
    if (!hidden) return null;
    const edge = first && hidden.y < first.y ? this.layout.pinnedHeight : this.painter.height;
    return Object.assign([this.state.xOf(time), edge], { isHidden: true });
  }

  #flows(palette) {
    const { state, painter } = this;
    const { arrows } = this.flows;
    if (arrows) {
      const made = [];
      for (let at = 0; at < arrows.from_track.length; at += 1) {
        const [from, to] = ["from", "to"].map((side) =>
          this.#point(arrows[`${side}_track`][at], arrows[`${side}_lane`][at], arrows[`${side}_ps`][at]),
        );
        if (from && to && !(from.isHidden && to.isHidden)) made.push([...from, ...to]);
      }
      painter.arrows(made, palette.ink, made.length > 200 ? 0.12 : 0.35);
    }
    if (!state.event) return;
    const here = this.#point(state.event.track, state.event.lane, state.event.start);
    const ends = (found) =>
      found.map((each) => this.#point(each.track, each.lane, each.start)).filter(Boolean);
    if (!here) return;
    painter.arrows(
      ends(state.event.incoming).map((from) => [...from, ...here]),
      palette.bad,
      0.9,
    );
    painter.arrows(
      ends(state.event.outgoing).map((to) => [...here, ...to]),
      palette.focus,
      0.9,
    );
  }

  // What is at a position: the row, and the mark there.
  hit(tiles, x, y) {
    const { layout, visible, state } = this;
    const rows = y < layout.pinnedHeight ? visible.pinned : visible.rows;
    const row = rows.find((each) => y >= each.top && y < each.top + each.height);
    if (row?.kind !== "track") return { row: row ?? null, mark: null };
    const wanted = Math.floor((y - row.top - 1) / TRACE_LANE_PX);
    let mark = null;
    let nearest = 4;
    traceEachMark(traceParts(tiles, state, row.number), state, (lane, at) => {
      if (lane.lane !== wanted) return;
      const [from, to] = [state.xOf(lane.starts[at]), state.xOf(lane.ends[at])];
      const away = x < from ? from - x : x > to ? x - to : 0;
      if (away > nearest || (away === nearest && mark)) return;
      nearest = away;
      mark = {
        id: `${row.number}.${lane.places[at]}`,
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

  // What a tooltip says of what is at a position: the mark, or the values of the counter.
  wordsOf({ row, mark }, x) {
    if (mark) {
      const span = numberText(mark.end - mark.start, "ps");
      if (mark.count === 1) return [mark.name, span];
      const busy = `busy ${numberText(mark.busy, "ps")}; longest: ${mark.name}`;
      return [`${counted(mark.count)} events in ${span}`, busy, "click to zoom in"];
    }
    const series = row?.kind === "counter" ? this.counters.get(row.number) : null;
    const { counters } = this.state.block;
    return series ? [counters[row.number].name, ...traceCounterValues(series, this.state.timeAt(x))] : [];
  }
}
