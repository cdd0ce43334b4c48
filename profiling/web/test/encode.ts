// The writing side of the format, for tests: columns by their codings, gzip, base64, the page around it all.

import { gzipSync } from "node:zlib";
import type { Coding, Column, NumberType, Report } from "../src/format";

const BYTES = { u8: 1, u16: 2, u32: 4, f32: 4, f64: 8 } as const;

function leb(value: number, out: number[]): void {
  let rest = value;
  while (rest >= 128) {
    out.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  out.push(rest);
}

export function encode(values: ArrayLike<number>, type: NumberType, coding: Coding): Uint8Array {
  if (coding === "plain") {
    const bytes = new Uint8Array(values.length * BYTES[type]);
    const view = new DataView(bytes.buffer);
    for (let k = 0; k < values.length; k += 1) {
      const at = k * BYTES[type];
      if (type === "u8") view.setUint8(at, values[k]);
      else if (type === "u16") view.setUint16(at, values[k], true);
      else if (type === "u32") view.setUint32(at, values[k], true);
      else if (type === "f32") view.setFloat32(at, values[k], true);
      else view.setFloat64(at, values[k], true);
    }
    return bytes;
  }
  const out: number[] = [];
  let last = 0;
  for (let k = 0; k < values.length; k += 1) {
    if (coding === "varint") leb(values[k], out);
    else {
      const change = values[k] - (coding === "delta" ? last : 0);
      leb(change >= 0 ? 2 * change : -2 * change - 1, out);
      last = values[k];
    }
  }
  return Uint8Array.from(out);
}

export interface Writer {
  put(name: string, type: NumberType, coding: Coding, values: ArrayLike<number>): string;
  columns: Column[];
  bytes(): Uint8Array;
}

export function writer(): Writer {
  const columns: Column[] = [];
  const parts: Uint8Array[] = [];
  return {
    columns,
    put(name, type, coding, values) {
      const bytes = encode(values, type, coding);
      columns.push({ name, type, coding, length: values.length, bytes: bytes.length });
      parts.push(bytes);
      return name;
    },
    bytes: () => new Uint8Array(Buffer.concat(parts)),
  };
}

export const block = (bytes: Uint8Array): string => gzipSync(bytes).toString("base64");

export function html(report: Report, blocks: (string | null)[], script: string, style: string): string {
  const data = blocks.map((text, k) => (text === null ? "" : `<script type="text/plain" id="data-${k}">${text}</script>\n`));
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${report.title.replaceAll("<", "&lt;")}</title><style>${style}</style></head><body>
<script type="application/json" id="report">${JSON.stringify(report).replaceAll("<", "\\u003c")}</script>
${data.join("")}<script>${script}</script></body></html>
`;
}
