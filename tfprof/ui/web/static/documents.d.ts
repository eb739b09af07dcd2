// The documents behind pages: what Python makes and JavaScript draws. tests/ui/pages/test_format_page.py
// compares these declarations with documents.

/** A column: a list, little-endian numbers in base64 (NaN is unknown), or texts by place (-1: none). */
export type Column<T = any> = T[] | PackedNumbers | PackedTexts;
export interface PackedNumbers {
  type: "i32" | "f64";
  data: string;
}
export interface PackedTexts {
  texts: string[];
  at: Column<number>;
}

/** Names and values of an address. */
export type Params = Record<string, any>;

export interface Site {
  format: number;
  runs: { name: string; source: string }[];
  run: string;
  /** How often the files of the run have changed. */
  changes?: number;
  /** Why the run cannot be read. */
  trouble: string;
  /** Of tfprof. */
  version: string;
  pages: { id: string; title: string; group: string; missing: string }[];
  /** In a report: which runs it compares each run with. */
  compared?: Record<string, string[]>;
}

export interface Page {
  format: number;
  page: string;
  title: string;
  about: string;
  controls: Control[];
  blocks: Block[];
}

export interface Control {
  /** The parameter of the address. */
  name: string;
  label: string;
  kind: "choice" | "int" | "text" | "bool" | "list" | "steps";
  value: any;
  default: any;
  /** Pairs of value and label. */
  choices: [string, string][];
  help: string;
  unit: string;
  group: string;
}

/** What all blocks may have. */
interface Common {
  /** Unique on the page. */
  id?: string;
  title?: string;
  /** The run that the block is of, where two are beside each other. */
  of_run?: string;
  /** Parameters that its links take along: to the run that it is of. */
  along?: Params;
}

/** Sentences; `lead` ones are the answer of the page. */
export interface WordsBlock extends Common {
  kind: "words";
  lead: boolean;
  items: string[];
}

/** Names and texts; `short` ones are texts alone, in the head of the page. */
export interface FactsBlock extends Common {
  kind: "facts";
  short?: boolean;
  /** Pairs of a name and a text. */
  items: [string, string][];
}

export interface FiguresBlock extends Common {
  kind: "figures";
  items: Figure[];
}
export interface Figure {
  label: string;
  /** A text, if `unit` is "text". */
  value: any;
  unit: string;
  detail?: string;
}

/** What to know about the numbers: errors stand above them, the others behind a count in the head. */
export interface RemarksBlock extends Common {
  kind: "remarks";
  items: Remark[];
  /** How many more there are than `items`. */
  n_more: number;
}
export interface Remark {
  severity: "error" | "warning" | "info";
  text: string;
  host: string;
}

/** What to do; `cards` are the first ones, beside each other. */
export interface FindingsBlock extends Common {
  kind: "findings";
  items: Finding[];
  cards?: boolean;
  /** Of cards: what else was looked at, in the place of those that there are not. */
  rest?: string;
}
export interface Finding {
  rule: string;
  severity: "critical" | "warning" | "info";
  text: string;
  evidence: { name: string; value: any; unit: string }[];
  gain: { amount: number; unit: string; how: string } | null;
  place: string;
  link: string;
  /** Name of the page that shows it. */
  page: string;
}

/** Why there is nothing, and what would change that. */
export interface EmptyBlock extends Common {
  kind: "empty";
  text: string;
}

/** Blocks beside each other, each in a card; below each other where there is no room. */
export interface RowBlock extends Common {
  kind: "row";
  /** How wide each is, in parts of the whole. */
  parts: number[];
  blocks: Block[];
}

/** Groups of blocks, of which one is shown at a time. */
export interface TabsBlock extends Common {
  kind: "tabs";
  id: string;
  items: { label: string; blocks: Block[] }[];
}

export interface TableBlock extends Common {
  kind: "table";
  id: string;
  columns: TableColumn[];
  n_rows: number;
  /** One for each of `columns`. */
  cells: Column[];
  /** By column, where a page has more on what a cell names. */
  links?: Record<string, TableLink>;
  /** The compiled program that instructions are of; links take it along. */
  program?: string;
  /** The column that names the program of each row. */
  program_column?: string;
  /** The page that has all rows. */
  page?: string;
}
export interface TableColumn {
  id: string;
  label: string;
  about: string;
  type: "number" | "string" | "boolean";
  unit: string;
  /** What it holds. */
  meaning?: string;
  /** The sum of rows has this meaning, too. */
  adds?: boolean;
  /** Of shares: a part of a whole, or one of which more is better or worse. */
  shade?: "part" | "better" | "worse";
}
export interface TableLink {
  /** Pairs of a page and its parameter. */
  ways: [string, string][];
  /** The way of each row, -1 for none; the first without. */
  at?: Column<number>;
  /** Values of the parameter, where these are not the cells. */
  values?: Column;
}

export interface ChartBlock extends Common {
  kind: "chart";
  form:
    | "stacked_bar"
    | "stacked_area"
    | "bar"
    | "pie"
    | "strip"
    | "gauges"
    | "pairs"
    | "line"
    | "scatter"
    | "area"
    | "heatmap";
  x: Column;
  x_label: string;
  x_unit?: string;
  y_label: string;
  /** Of the values. */
  unit?: string;
  /** Equal names have equal colours on all pages. */
  series: Series[];
  /** What all parts of a list of parts are, whose colour they have: `input`. */
  meaning?: string;
  /** Both axes go by powers of ten. */
  log?: boolean;
  /** Names of series that are hidden at first. */
  hidden?: string[];
  /** A click sets `param` of the address to one of `keys`, or to x; and `also`. */
  choose?: { param: string; keys?: string[]; also?: Params };
  /** How many ps of the timeline one of x is, if both begin together. */
  timeline_ps?: number;
  /** Of a heat map: a text for each cell. */
  details?: string[][];
  /** The page that has all of it, and the words that lead there. */
  page?: string;
  more?: string;
  /** A sentence below it. */
  caption?: string;
  /** Of points, and of parts: name, lines of text, and a page. */
  point_names?: Column<string>;
  point_details?: string[][];
  point_links?: (Link | null)[];
  /** Of pairs, of which `series` has two: by how much they differ, and whether that is more than noise. */
  differences?: Column<number>;
  verdicts?: Column<string>;
  /** Lines that limit points. */
  roofs?: { name: string; x: Column<number>; y: Column<number> }[];
}
export interface Series {
  name: string;
  values: Column<number>;
  /** Whether it lies between a step and the next; the part in the step has the same name. */
  between?: boolean;
}
/** A page with values of its parameters. */
export interface Link {
  page: string;
  params: Params;
}

/** Rows below rows, with numbers. The root is the first row, its parent -1. */
export interface TreeBlock extends Common {
  kind: "tree";
  id: string;
  /** What rows are. */
  header: string;
  n_rows: number;
  names: Column<string>;
  parent: Column<number>;
  /** Joins a name to its parent's; whole names that are otherwise are in `full_names`, by row. */
  joint: string;
  full_names: Record<string, string>;
  measures: TreeMeasure[];
  texts: { id: string; label: string; values: Column<string> }[];
  /** The measure that is shown first. */
  primary: string;
  /** All rows are parts of the root. */
  is_list: boolean;
  /** Parents are callers. */
  is_called: boolean;
  /** How many children of each row are not here. */
  left_out: Column<number> | null;
  /** `rows` has 1 where a row is hidden at first. */
  hidden: { label: string; rows: Column<number> } | null;
  places: Places | null;
  /** A page about one row; `rows` has 1 for those it has, if not for all but the root. */
  row_page: { page: string; param: string; label: string; rows?: Column<number> } | null;
  /** The form that is shown first, if not a table. */
  form?: "flame";
  /** What colours the cells of pictures: -1 to 1 of each row, and what the ends and 0 mean. */
  tint?: { values: Column<number>; low: string; high: string; none: string };
}
/** Source lines of rows. */
export interface Places {
  files: string[];
  /** Places in `files`, -1 for none. */
  file: Column<number>;
  line: Column<number>;
  /** By file and line. */
  texts: Record<string, Record<string, string>>;
}
export interface TreeMeasure {
  id: string;
  label: string;
  unit: string;
  totals: Column<number>;
  own: Column<number> | null;
  /** Own costs where hidden rows add theirs to the row above. */
  own_folded: Column<number> | null;
  whole: number;
  /** The text of an unknown number. */
  absent: string;
  is_cost: boolean;
  /** What it is. */
  meaning?: string;
}

/** Boxes and lines, laid out by the library. */
export interface GraphBlock extends Common {
  kind: "graph";
  width: number;
  height: number;
  nodes: GraphNode[];
  edges: GraphEdge[];
  /** What boxes can be coloured by. */
  measures: { id: string; label: string; unit: string }[];
  /** The box to look at first, or -1. */
  focus: number;
  /** What it means, and what is not drawn. */
  note: string;
  /** What is described beside the picture. */
  chosen: { title: string; facts: [string, string][]; text: string } | null;
}
export interface GraphNode {
  id: string;
  label: string;
  detail: string;
  hover: string[];
  x: number;
  y: number;
  w: number;
  h: number;
  /** Place of the box around it, or -1. */
  inside: number;
  /** By measure; texts where its unit is "text". */
  weights: Record<string, number | string | null>;
  /** A meaning with a colour. */
  tone: string;
  strong: boolean;
  /** Parameters that open or close the box. */
  toggle: Params | null;
  is_open: boolean;
  link: Link | null;
  /** What adds boxes around it, or takes them away. */
  handles: { side: "above" | "below"; label: string; sign: string; params: Params }[];
}
export interface GraphEdge {
  /** Places of boxes. */
  start: number;
  end: number;
  label: string;
  count: number;
  strong: boolean;
  /** x and y by turns. */
  points: number[];
  curved: boolean;
}

/** Memory over time, and what is alive at any moment. Times are in µs. */
export interface LiveBlock extends Common {
  kind: "live-memory";
  times: Column<number>;
  bytes: Column<number>;
  peak: number;
  /** What allocators said. */
  measured: { name: string; times: Column<number>; bytes: Column<number> }[];
  /** Of each buffer. */
  born: Column<number>;
  dies: Column<number>;
  sizes: Column<number>;
  ops: Column<string>;
  types: Column<string>;
  lines: Column<string>;
}

/** Values of a compiled program at their places in the memory that it reserves. Sizes are in bytes. */
export interface BuffersBlock extends Common {
  kind: "buffers";
  /** Events of the plan, in the order of the program; 0 if all values are always there. */
  n_events: number;
  /** Reserved. */
  total: number;
  /** The event that leads to the peak. */
  peak: number;
  /** In use before each event, and after the last one. */
  levels: Column<number>;
  unpadded_levels: Column<number>;
  /** The instruction of each event. */
  events: Column<string>;
  /** The compiled program, for links. */
  program: string;
  /** Of each value, the largest first; `born` and `dies` are events. */
  names: Column<string>;
  instructions: Column<string>;
  kinds: Column<string>;
  shapes: Column<string>;
  ops: Column<string>;
  lines: Column<string>;
  born: Column<number>;
  dies: Column<number>;
  offsets: Column<number>;
  sizes: Column<number>;
  /** NaN where it is unknown. */
  padding: Column<number>;
  at_peak: Column<number>;
}

/** The text of a compiled program, which the data of `path` holds as `text`. */
export interface ProgramTextBlock extends Common {
  kind: "program-text";
  id: string;
  path: string;
  params: Params;
  /** Name of a file to save it as. */
  file: string;
}

/** Lines of source files with their costs. */
export interface CodeLinesBlock extends Common {
  kind: "code-lines";
  /** What names beside lines without texts are. */
  header: string;
  /** `whole` is the total with what has no line, 0 without shares. */
  measures: { id: string; label: string; unit: string; whole: number }[];
  files: CodeFile[];
}
export interface CodeFile {
  path: string;
  is_library: boolean;
  /** Why there is no text. */
  note: string;
  lines: CodeLine[];
}
export interface CodeLine {
  number: number;
  /** Null if it may not be read. */
  text: string | null;
  /** By measure; null for a line that is here only because it is near one with costs. */
  values: (number | null)[] | null;
  /** What runs because of it, or its function. */
  detail: string;
  /** How HLO stats name it, or empty. */
  find: string;
}

/** The timeline. Events are loaded in tiles, which ui/pages/trace/data.py describes. */
export interface TraceBlock extends Common {
  kind: "trace";
  /** Picoseconds. */
  t0: number;
  t1: number;
  processes: string[];
  tracks: TraceTrack[];
  counters: { process: number; name: string }[];
  steps: { names: Column<string>; starts: Column<number>; ends: Column<number> };
  /** Place of the slowest whole step, with which the timeline opens; null without any. */
  slowest: number | null;
  n_flows: number;
  /** What the capture has, and what is dropped. */
  shown: Record<string, number>;
  /** The same as a sentence. */
  about: string;
  /** One row for each track. */
  overview: TableBlock;
}
export interface TraceTrack {
  process: number;
  name: string;
  thread_id: string;
  /** What runs there: "device", "host", "input" (threads of tf.data) or "python". */
  kind: string;
  /** How many events there are. */
  n: number;
  lanes: number;
  depth: number;
  n_tangled: number;
  is_derived: boolean;
}

export type Block =
  | WordsBlock
  | FactsBlock
  | FiguresBlock
  | RemarksBlock
  | FindingsBlock
  | EmptyBlock
  | RowBlock
  | TabsBlock
  | TableBlock
  | ChartBlock
  | TreeBlock
  | GraphBlock
  | LiveBlock
  | BuffersBlock
  | CodeLinesBlock
  | ProgramTextBlock
  | TraceBlock;
