// From event to event by keys: along a track, across tracks, along arrows.

/** @import { TraceScene } from "./trace_scene.js" */
/** @import { TraceState } from "./trace_state.js" */

export class TraceWalk {
  /**
   * @param {any} data
   * @param {TraceState} state
   * @param {() => TraceScene} scene
   * @param {{ select: (id: string) => void, show: (event: any) => void, say: (text: string) => void }} acts
   */
  constructor(data, state, scene, acts) {
    this.data = data;
    this.state = state;
    this.scene = scene;
    this.acts = acts;
  }

  /**
   * The event beside the selected one on its track; without one, the first that is seen.
   *
   * @param {number} by
   */
  along(by) {
    const { event, block } = this.state;
    if (!event) return this.#first();
    const [track, place] = event.id.split(".").map(Number);
    const next = place + by;
    if (next < 0 || next >= block.tracks[track].n)
      return this.acts.say(`The ${by < 0 ? "first" : "last"} event of ${event.track_name}.`);
    return this.acts.select(`${track}.${next}`);
  }

  /**
   * The event at the time of the selected one on the track above (-1) or below (1).
   *
   * @param {number} by
   */
  across(by) {
    const { event } = this.state;
    if (!event) return this.#first();
    const rows = this.#tracks();
    const next = rows[rows.findIndex(({ number }) => number === event.track) + by];
    if (!next) return this.acts.say(`There is no track ${by < 0 ? "above" : "below"} ${event.track_name}.`);
    return this.#nearest(next.number, event.start);
  }

  /**
   * The event at the other end of the selected one's arrow: where it comes from (-1) or leads to (1).
   *
   * @param {number} by
   */
  arrow(by) {
    const { event } = this.state;
    if (!event) return this.acts.say("Select an event first: [ and ] follow its arrows.");
    const [other] = by < 0 ? event.incoming : event.outgoing;
    if (!other)
      return this.acts.say(by < 0 ? "No arrow leads to this event." : "No arrow leads from this event.");
    return this.acts.select(other.id);
  }

  #tracks() {
    const { layout } = this.scene();
    return [...layout.pinned, ...layout.rows].filter(({ kind }) => kind === "track");
  }

  #first() {
    const { visible } = this.scene();
    const row =
      [...visible.pinned, ...visible.rows].find(({ kind }) => kind === "track") ?? this.#tracks()[0];
    if (row) this.#nearest(row.number, Math.max(this.state.t0, this.state.block.t0));
  }

  /**
   * @param {number} track
   * @param {number} time
   */
  async #nearest(track, time) {
    try {
      this.acts.show(await this.data.nearest(track, time));
    } catch (error) {
      this.acts.say(/** @type {Error} */ (error).message);
    }
  }
}
