// What a report says, read without the page: its head, and the spans of its tasks.

import { gunzipSync } from "node:zlib";

export function reportOf(html) {
  const block = (id) => {
    const opening = ` id="${id}">`;
    const from = html.indexOf(opening) + opening.length;
    return html.slice(from, html.indexOf("</script>", from));
  };
  const head = JSON.parse(block("report"));
  const runs = head.runs.map((run, k) => tasksOf(run, gunzipSync(Buffer.from(block(`data-${k}`), "base64"))));
  return { head, runs };
}

// By row: id, codelet, lane, start and duration.
function tasksOf(run, bytes) {
  const columns = new Map();
  let at = 0;
  for (const column of run.columns) {
    columns.set(column.name, { ...column, bytes: bytes.subarray(at, at + column.bytes) });
    at += column.bytes;
  }
  const read = (name) => numbers(columns.get(name));
  const [lanes, ids, codelets, gaps, durations] = ["lane", "id", "codelet", "gap", "duration"].map((name) => read(`tasks.${name}`));
  const tasks = [];
  for (let lane = 0; lane + 1 < lanes.length; lane += 1) {
    let end = 0;
    for (let row = lanes[lane]; row < lanes[lane + 1]; row += 1) {
      const start = end + gaps[row];
      end = start + durations[row];
      tasks.push({ id: ids[row], codelet: run.codelets[codelets[row]].name, lane, start, duration: durations[row] });
    }
  }
  return tasks;
}

function numbers({ coding, type, bytes }) {
  if (coding === "plain" && type === "u8") return [...bytes];
  const out = [];
  let value = 0;
  let unit = 1;
  for (const byte of bytes) {
    value += (byte % 128) * unit;
    unit *= 128;
    if (byte < 128) {
      out.push(value);
      value = 0;
      unit = 1;
    }
  }
  if (coding === "varint") return out;
  const signed = out.map((n) => (n % 2 === 0 ? n / 2 : -(n + 1) / 2));
  if (coding === "zigzag") return signed;
  let sum = 0;
  return signed.map((change) => (sum += change));
}
