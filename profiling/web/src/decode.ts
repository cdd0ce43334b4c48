// From the text of a data block to columns of numbers.
//
// Takes base64 of gzip of columns that lie one behind the other, and their descriptions; gives typed arrays, each decoded
// when it is asked for first. What is broken is a `Broken` error with one sentence for the reader. Knows no panel.

import type { Column, NumberType } from "./format";

export type Numbers = Uint8Array | Uint16Array | Uint32Array | Float32Array | Float64Array;

export interface Columns {
  has(name: string): boolean;
  get(name: string): Numbers;
}

// A report that cannot be shown. Its message is all that the reader sees.
export class Broken extends Error {}

const ARRAYS = {
  u8: Uint8Array,
  u16: Uint16Array,
  u32: Uint32Array,
  f32: Float32Array,
  f64: Float64Array,
} as const;

export function fromBase64(text: string): Uint8Array {
  const trimmed = text.trim();
  let binary: string;
  try {
    // Newer browsers have it built in, ten times as fast.
    const native = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array }).fromBase64;
    if (native !== undefined) return native(trimmed);
    binary = atob(trimmed);
  } catch {
    throw new Broken("a data block of this report is not base64");
  }
  const bytes = new Uint8Array(binary.length);
  for (let k = 0; k < binary.length; k += 1) bytes[k] = binary.charCodeAt(k);
  return bytes;
}

export async function gunzip(bytes: Uint8Array): Promise<Uint8Array> {
  if (typeof DecompressionStream === "undefined") {
    throw new Broken("this browser is too old for the report: it has no DecompressionStream");
  }
  try {
    const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {
    throw new Broken("a data block of this report is damaged or cut off (gzip)");
  }
}

// Descriptions against the block's size, so that a foreign block is refused before anything is drawn.
export function columnsOf(bytes: Uint8Array, described: Column[]): Columns {
  const places = new Map<string, { column: Column; at: number }>();
  let at = 0;
  for (const column of described) {
    if (!(column.type in ARRAYS) || !Number.isInteger(column.length) || column.length < 0) {
      throw new Broken(`column ${column.name}: unknown type or length`);
    }
    const bytesOfOne = ARRAYS[column.type].BYTES_PER_ELEMENT;
    const plain = column.coding === "plain" && column.bytes !== column.length * bytesOfOne;
    const coded = column.coding !== "plain" && column.bytes < column.length;
    if (plain || coded || !(column.bytes >= 0)) throw new Broken(`column ${column.name}: ${column.bytes} bytes`);
    places.set(column.name, { column, at });
    at += column.bytes;
  }
  if (at !== bytes.length) {
    throw new Broken(`a data block has ${bytes.length} bytes where its columns need ${at}`);
  }
  const decoded = new Map<string, Numbers>();
  return {
    has: (name) => places.has(name),
    get(name) {
      const known = decoded.get(name);
      if (known !== undefined) return known;
      const place = places.get(name);
      if (place === undefined) throw new Broken(`this report has no column ${name}`);
      const numbers = decode(bytes.subarray(place.at, place.at + place.column.bytes), place.column);
      decoded.set(name, numbers);
      return numbers;
    },
  };
}

export function decode(bytes: Uint8Array, column: Column): Numbers {
  switch (column.coding) {
    case "plain":
      return plain(bytes, column.type);
    case "varint":
    case "zigzag":
    case "delta":
      return variable(bytes, column);
    default:
      throw new Broken(`column ${column.name}: unknown coding ${String(column.coding)}`);
  }
}

function plain(bytes: Uint8Array, type: NumberType): Numbers {
  // A copy is aligned, which the place in the block need not be. Browsers run on little-endian machines only.
  const copy = bytes.slice();
  return new ARRAYS[type](copy.buffer);
}

function variable(bytes: Uint8Array, column: Column): Numbers {
  const out: Numbers = new ARRAYS[column.type](column.length);
  const signed = column.coding !== "varint";
  const delta = column.coding === "delta";
  let at = 0;
  let sum = 0;
  for (let k = 0; k < column.length; k += 1) {
    // 28 bits fit the fast operators; what lies above is added as a double, exact up to 53 bits.
    let byte = bytes[at++];
    let value = byte & 127;
    let shift = 7;
    while (byte >= 128 && shift < 28) {
      byte = bytes[at++];
      value |= (byte & 127) << shift;
      shift += 7;
    }
    let scale = 268435456;
    while (byte >= 128) {
      if (at >= bytes.length) break;
      byte = bytes[at++];
      value += (byte & 127) * scale;
      scale *= 128;
    }
    if (at > bytes.length || byte >= 128 || byte === undefined) throw new Broken(`column ${column.name} is cut off`);
    if (signed) value = value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    if (delta) value = sum += value;
    out[k] = value;
  }
  if (at !== bytes.length) throw new Broken(`column ${column.name} has bytes left over`);
  return out;
}
