// What modules hand to each other.

import type { Column, Page, Params, Series, Site, TreeMeasure } from "./documents";

export interface Source {
  /** Whether documents come from a server, which makes others on request. */
  isLive: boolean;
  site(run?: string): Promise<Site>;
  page(id: string, params: Params): Promise<Page>;
  data(path: string, params: Params): Promise<any>;
}

/** What a block is drawn with. */
export interface Context {
  /** Whether the block stands beside others, in a card. */
  inCard?: boolean;
  source: Source;
  /** Of the address. */
  params: Params;
  page: Page;
  go(id: string, params: Params): void;
  /** Keeps how the page is looked at in its address. */
  look(changes: Params): void;
  /** The address of a page, with what all pages have in common; `visit` goes there. */
  address(id: string, more: Params): string;
  visit(id: string, more: Params): void;
}

/** Attributes of an element: listeners, `style` as an object, and others; null leaves out. */
export interface Attributes {
  [listener: `on${string}`]: ((event: any) => void) | null;
  style?: Record<string, string>;
  [name: string]: unknown;
}
export type Child = Node | string | number | null | undefined | false | Child[];

/** The room of a plot and its margins, in pixels. */
export interface Plot {
  width: number;
  height: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** A chart as it is drawn. */
export interface ChartData {
  plot: Plot;
  x: any[];
  unit: string;
  xUnit: string;
  series: (Series & { values: number[]; colour: string; pale?: boolean })[];
  /** What of `x` is shown, if not all; and shows another part, null for all. */
  span?: Span | null;
  zoom?: (span: Span | null) => void;
}
export type Scale = ((value: number) => number) & { ticks: number[] };

/** A condition on the rows of a table: a number, a text to contain, or texts to choose from. */
export interface TableFilter {
  column: any;
  sign: string;
  value?: number;
  text?: string;
  texts?: string[];
}
/** Rows of equal texts. */
export interface TableGroup {
  name: string;
  rows: number[];
}

export interface TreeColumn {
  id: string;
  label: string;
  about?: string;
  measure?: any;
  text?: { values: any[] };
  isOwn?: boolean;
  isShare?: boolean;
  isBar?: boolean;
  isSource?: boolean;
  isName?: boolean;
  isDefault?: boolean;
  isOn?: boolean;
}
export type Measure = Omit<TreeMeasure, "totals" | "own" | "own_folded"> & {
  totals: number[];
  own: number[] | null;
  ownFolded: number[] | null;
};
export interface Order {
  id: string;
  isOwn: boolean;
  ascending: boolean;
}
/** What colours the cell of a node, -1 to 1, and lines of text on it. */
export interface Tint {
  of(node: any): number;
  lines(node: any): string[];
}
/** Rows that a search has found (2), and those above them (1). */
export interface Found {
  kept: Uint8Array;
  count: number;
}
/** How a tree is looked at. */
export interface TreeState {
  form: string;
  measure: Measure | null;
  /** Ids of columns, with commas between; empty for those that are shown at first. */
  columns: string;
  wanted: string;
  root: number;
  folds: boolean;
  isUp: boolean;
  open: Set<number>;
  /** The row that has the focus. */
  current: number;
  lines: Lines;
}
/** Rows of a tree that are shown, with their depths. */
export interface Lines {
  rows: number[];
  depths: number[];
}

/** What pictures of trees are drawn from. */
export interface Forest {
  root: any;
  value(node: any): number;
  own(node: any): number;
  label(node: any): string;
  full(node: any): string;
  row(node: any): number;
  children(node: any): any[];
  isHit(node: any, found: Found | null): boolean;
}

/** Requests data on a trace from the library. */
export type Ask = (path: string, params?: Params) => Promise<any>;

/** Marks of a lane, in order. */
export interface Lane {
  lane: number;
  n: number;
  starts: Float64Array;
  ends: Float64Array;
  counts: Float64Array;
  places: Float64Array;
  busy: Float64Array;
  names: string[];
}
/** Lanes of a part of the time that is seen. */
export interface Part {
  lanes: Lane[];
  from: number;
  to: number;
  isRough?: boolean;
}
export interface Tiles {
  isWaiting: boolean;
  error: string;
  lanes(k: number, number: number, track: number, isAsking?: boolean): Lane[] | undefined;
  flush(): void;
}

/** A process, track or counter in the list; `top` is its place on the screen. */
export interface Row {
  kind: "process" | "track" | "counter" | "query";
  number: number;
  y: number;
  height: number;
  isPinned?: boolean;
}
export type SeenRow = Row & { top: number };
/** A note at a time of a trace, ps. */
export interface TraceNote {
  time: number;
  words: string;
}
/** A track made by a statement; `ids`: the event of each row of its answer, empty without one. */
export interface TraceQuery {
  statement: string;
  lanes: Lane[];
  ids: string[];
  about: string;
  isWrong: boolean;
}
/** Shares of pixels of equal length from `t0` to `t1`, by kind and number of a row. */
export interface BusyShares {
  t0: number;
  t1: number;
  byRow: Map<string, Float64Array>;
}
export interface Visible {
  pinned: SeenRow[];
  rows: SeenRow[];
}
export interface Layout {
  pinned: Row[];
  pinnedHeight: number;
  rows: Row[];
  height: number;
}

export interface Steps {
  names: string[];
  starts: number[];
  ends: number[];
  /** Where steps begin and end. */
  bounds: number[];
}
export type Span = [number, number];

/** A slice, or several that are too small to be seen alone. */
export interface Mark {
  id: string;
  name: string;
  count: number;
  busy: number;
  start: number;
  end: number;
  track: number;
  lane: number;
}
/** What each event has that a search looks for: all of these. */
export interface TraceTerms {
  names: string[];
  /** In lower case, as names and texts of arguments; without a name, any argument. */
  tracks: string[];
  durations: { comparison: string; duration: number }[];
  args: { name: string; text: string }[];
}
/** Which tracks are seen, from the address. */
export interface TraceFilter {
  text: string;
  kind: string;
  process: string;
}

/** A slice beside others. */
export interface TraceBrief {
  id: string;
  name: string;
  track: number;
  track_name: string;
  lane: number;
  start: number;
  duration: number;
}
/** A slice with all that is known of it; null is unknown. */
export interface TraceEvent extends TraceBrief {
  process: string;
  self: number | null;
  n_inside: number | null;
  step: string;
  source: string;
  args: [string, unknown][] | null;
  /** Slices that it is in, and those that arrows lead from and to. */
  around: TraceBrief[];
  incoming: TraceBrief[];
  outgoing: TraceBrief[];
  n_incoming: number;
  n_outgoing: number;
}

export type { Column, Page, Params };
