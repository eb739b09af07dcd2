// Mouse, trackpad and keyboard over a trace.

const CLICK_PX = 4;
const ZOOM_STEP = 1.35;
const PAN_SHARE = 0.15;

export const TRACE_KEYS = [
  ["w, s · Ctrl + wheel", "zoom in and out, where the pointer is"],
  ["a, d · drag", "go left and right"],
  ["Page up, Page down · wheel", "scroll through the tracks"],
  ["0", "the whole trace"],
  ["drag on the strip on top", "what of the whole trace is in sight"],
  ["9", "the slowest whole step"],
  ["f", "what is selected, or the whole trace"],
  ["click", "select an event: all that is known of it is shown beside"],
  ["drag on the ruler", "select a range: its length, and time by name"],
  ["Shift + drag over tracks", "a range of these tracks alone"],
  ["click on a name, Ctrl + click", "select a track, take another one to it"],
  ["click on a step in the ruler", "select the step"],
  ["m", "make the selected event the range"],
  ["t", "a note at the selected event, or where the pointer is; the address keeps it"],
  ["A, then another range", "keep the range as A; the next one is compared with it (B swaps them)"],
  ["← → · , .", "the previous and the next event of the track"],
  ["↑ ↓", "the event at the same time on the track above and below"],
  ["[ ]", "the event that led to the selected one, and the one that it leads to"],
  ["/", "search: words of a name, dur>1ms, dur<20us, arg:text, arg:shape=2x3, track:stream"],
  ["n, N · Enter, ↑ ↓ in the field", "the next and the previous event that was found"],
  ["c", "fold all processes, and unfold them"],
  ["Alt + ↑ ↓ on a name · drag a name", "move a track or process up and down"],
  ["e", "show or hide the details"],
  ["F", "the timeline alone in the window, and back"],
  ["Escape", "select nothing"],
  ["?", "these keys"],
];

/**
 * Listens; `view` has `state`, `click`, `hover`, `ranges`, `walk`, `search`, `dock` and `help`.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {HTMLCanvasElement} ruler
 * @param {HTMLElement} scroller
 * @param {any} view
 */
export function listenToTrace(canvas, ruler, scroller, view) {
  const { state } = view;
  /** @type {any} */
  let pointer = null;

  /**
   * @param {any} event
   * @param {boolean} isRuler
   */
  function begin(event, isRuler) {
    if (event.button !== 0) return;
    const x = event.offsetX;
    pointer = {
      x,
      y: event.offsetY,
      startX: x,
      startY: event.offsetY,
      moved: false,
      isRange: isRuler || event.shiftKey,
      from: state.timeAt(x),
      isRuler,
    };
    event.target.setPointerCapture?.(event.pointerId);
  }

  /** @param {any} event */
  function move(event) {
    if (!pointer) return view.hover(event);
    const x = event.offsetX;
    if (Math.abs(x - pointer.startX) > CLICK_PX) pointer.moved = true;
    if (!pointer.moved) return undefined;
    if (pointer.isRange) {
      const to = state.timeAt(Math.max(0, Math.min(x, state.width)));
      const tracks = pointer.isRuler ? null : view.scene.tracksBetween(pointer.startY, event.offsetY);
      view.ranges.drag([Math.min(pointer.from, to), Math.max(pointer.from, to)], tracks);
    } else state.pan(pointer.x - x);
    pointer.x = x;
    return view.hover(null);
  }

  /** @param {any} event */
  function end(event) {
    if (!pointer) return;
    const { moved, isRange, isRuler } = pointer;
    pointer = null;
    if (moved && isRange) view.ranges.select(state.range);
    else if (!moved && isRuler) view.ranges.selectStep(state.timeAt(event.offsetX));
    else if (!moved) view.click(event.offsetX, event.offsetY);
  }

  for (const target of [canvas, ruler]) {
    target.addEventListener("pointerdown", (/** @type {any} */ event) => begin(event, target === ruler));
    target.addEventListener("pointermove", move);
    target.addEventListener("pointerup", end);
    target.addEventListener("pointercancel", () => {
      pointer = null;
    });
    target.addEventListener("pointerleave", () => view.hover(null));
    target.addEventListener("wheel", wheel, { passive: false });
  }

  /** @param {any} event */
  function wheel(event) {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      state.zoom(Math.exp(Math.max(-60, Math.min(event.deltaY, 60)) / 120), event.offsetX);
    } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey) {
      event.preventDefault();
      state.pan(event.deltaX || event.deltaY);
    }
  }

  /** @type {number | null} */
  let at = null; // where the pointer is, for keys that zoom
  canvas.addEventListener("pointermove", (/** @type {any} */ event) => {
    at = event.offsetX;
  });
  canvas.addEventListener("pointerleave", () => {
    at = null;
  });
  /** @type {Record<string, () => void>} */
  const actions = {
    w: () => state.zoom(1 / ZOOM_STEP, at ?? undefined),
    "+": () => state.zoom(1 / ZOOM_STEP),
    "=": () => state.zoom(1 / ZOOM_STEP),
    s: () => state.zoom(ZOOM_STEP, at ?? undefined),
    "-": () => state.zoom(ZOOM_STEP),
    a: () => state.pan(-PAN_SHARE * state.width),
    d: () => state.pan(PAN_SHARE * state.width),
    ArrowLeft: () => view.walk.along(-1),
    ArrowRight: () => view.walk.along(1),
    ArrowUp: () => view.walk.across(-1),
    ArrowDown: () => view.walk.across(1),
    PageUp: () => scroller.scrollBy(0, -0.8 * scroller.clientHeight),
    PageDown: () => scroller.scrollBy(0, 0.8 * scroller.clientHeight),
    "[": () => view.walk.arrow(-1),
    "]": () => view.walk.arrow(1),
    0: () => state.fitAll(),
    9: () => view.showSlowest(),
    c: () => state.foldAll(),
    e: () => view.dock.set(!view.dock.isOpen),
    A: () => view.ranges.setBase(state.range),
    B: () => view.ranges.swap(),
    f: () => state.fitSelection(),
    m: () => view.ranges.selectEvent(),
    t: () => view.notes.add(state.timeAt(at ?? state.width / 2)),
    ".": () => view.walk.along(1),
    ",": () => view.walk.along(-1),
    n: () => view.search.next(false),
    N: () => view.search.next(true),
    "/": () => view.search.focus(),
    "?": () => view.help(),
    F: () => view.fullScreen(),
    Escape: () => view.selectNothing(),
  };
  return (/** @type {any} */ event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea"))
      return;
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  };
}
