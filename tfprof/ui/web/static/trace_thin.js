// Marks of a pixel or two: thousands of them are drawn as one image, of which a lane is a row.

import { TRACE_LANE_PX } from "./trace_layout.js";

export const TRACE_THIN_PX = 2.5;

export class TraceThinMarks {
  #canvas = document.createElement("canvas");
  #rows = new Map();
  #width = 0;

  /**
   * A track begins; `width` is that of the picture in pixels of the screen.
   *
   * @param {number} width
   */
  begin(width) {
    if (width !== this.#width) this.#rows.clear();
    this.#width = width;
    for (const row of this.#rows.values()) row.isUsed = false;
  }

  /**
   * A mark from `x` to `end`, at least a pixel wide; `bits` is its colour.
   *
   * @param {number} lane
   * @param {number} x
   * @param {number} end
   * @param {number} bits
   */
  put(lane, x, end, bits) {
    let row = this.#rows.get(lane);
    if (!row) {
      row = { image: new ImageData(this.#width, 1), isUsed: false };
      row.pixels = new Uint32Array(row.image.data.buffer);
      this.#rows.set(lane, row);
    }
    if (!row.isUsed) row.pixels.fill(0);
    row.isUsed = true;
    const scale = devicePixelRatio || 1;
    const first = Math.max(Math.floor(x * scale), 0);
    const last = Math.min(Math.max(Math.round(end * scale), first + 1), this.#width);
    for (let at = first; at < last; at += 1) row.pixels[at] = bits;
  }

  /**
   * Draws the rows, each as high as its lane.
   *
   * @param {CanvasRenderingContext2D} context
   * @param {number} top
   * @param {number} width
   */
  draw(context, top, width) {
    const canvas = this.#canvas;
    const used = [...this.#rows].filter(([, row]) => row.isUsed);
    if (!used.length) return;
    const height = Math.max(...used.map(([lane]) => lane)) + 1;
    if (canvas.width !== this.#width || canvas.height < height) {
      canvas.width = this.#width;
      canvas.height = height;
    }
    const own = canvas.getContext("2d", { willReadFrequently: true });
    if (!own) return;
    context.imageSmoothingEnabled = false;
    for (const [lane, row] of used) {
      own.putImageData(row.image, 0, lane);
      context.drawImage(
        canvas,
        0,
        lane,
        this.#width,
        1,
        0,
        top + lane * TRACE_LANE_PX,
        width,
        TRACE_LANE_PX - 2,
      );
    }
  }
}
