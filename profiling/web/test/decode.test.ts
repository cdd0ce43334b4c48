// Columns come back as they were written, in every coding; damaged blocks are refused with a reason.

import { describe, expect, test } from "vitest";
import { Broken, columnsOf, decode, fromBase64, gunzip } from "../src/decode";
import type { Coding, NumberType } from "../src/format";
import { block, encode, writer } from "./encode";
import { random } from "./random";

const column = (type: NumberType, coding: Coding, length: number, bytes: number) => ({ name: "c", type, coding, length, bytes });

describe("codings", () => {
  test("are laid out as the format's description says", () => {
    // The same numbers and bytes as in the test of ../src/report/columns.rs.
    const bytes = Uint8Array.from([0, 127, 0x80, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f]);
    expect(Array.from(decode(bytes, column("f64", "varint", 4, 12)))).toEqual([0, 127, 128, 2 ** 53 - 1]);
    expect(Array.from(decode(Uint8Array.from([10, 1, 0x80, 1]), column("u32", "delta", 3, 4)))).toEqual([5, 4, 68]);
    expect(Array.from(decode(Uint8Array.from([0, 1, 2, 3]), column("f64", "zigzag", 4, 4)))).toEqual([0, -1, 1, -2]);
    expect(Array.from(decode(Uint8Array.from([0, 0, 0, 0x3f]), column("f32", "plain", 1, 4)))).toEqual([0.5]);
  });

  const largest: Record<NumberType, number> = { u8: 255, u16: 65535, u32: 2 ** 32 - 1, f32: 2 ** 24, f64: 2 ** 52 };
  for (const type of ["u8", "u16", "u32", "f32", "f64"] as const) {
    for (const coding of ["plain", "varint", "zigzag", "delta"] as const) {
      test(`${type} ${coding}: random numbers`, () => {
        const r = random(type.length * 100 + coding.length);
        for (let round = 0; round < 20; round += 1) {
          const negative = coding !== "varint" && type === "f64";
          const values = Array.from({ length: r.below(200) }, () => {
            const size = Math.floor(largest[type] * r.next() ** (1 + r.below(12)));
            return negative && r.next() < 0.4 ? -size : size;
          });
          // Their differences have to fit 53 bits.
          const fitting = coding === "delta" && type === "f64" ? values.map((v) => Math.trunc(v / 4)) : values;
          const bytes = encode(fitting, type, coding);
          expect(Array.from(decode(bytes, column(type, coding, fitting.length, bytes.length))).map((v) => v || 0)).toEqual(fitting.map((v) => v || 0));
        }
      });
    }
  }
});

describe("faults", () => {
  const good = (): { bytes: Uint8Array; columns: ReturnType<typeof writer>["columns"] } => {
    const out = writer();
    out.put("a", "u32", "delta", [5, 9, 1e6]);
    out.put("b", "f64", "plain", [1.5, 2.5]);
    return { bytes: out.bytes(), columns: out.columns };
  };

  test("every cut of a variable column is found", () => {
    const bytes = encode([1, 300, 2 ** 40, 5], "f64", "varint");
    for (let cut = 0; cut < bytes.length; cut += 1) {
      expect(() => decode(bytes.subarray(0, cut), column("f64", "varint", 4, cut))).toThrow(Broken);
    }
    expect(() => decode(bytes, column("f64", "varint", 3, bytes.length))).toThrow(/left over/);
  });

  test("a block of another size, an unknown type, coding or name", () => {
    const { bytes, columns } = good();
    expect(Array.from(columnsOf(bytes, columns).get("b"))).toEqual([1.5, 2.5]);
    expect(() => columnsOf(bytes.subarray(1), columns)).toThrow(Broken);
    expect(() => columnsOf(bytes, columns).get("c")).toThrow(/no column c/);
    expect(() => columnsOf(bytes, [{ ...columns[0], type: "i9" as NumberType }])).toThrow(Broken);
    expect(() => columnsOf(bytes, [{ ...columns[1], length: 3 }])).toThrow(Broken);
    expect(() => decode(bytes, { ...columns[0], coding: "magic" as Coding })).toThrow(/unknown coding/);
  });

  test("base64 and gzip", async () => {
    const { bytes } = good();
    const text = block(bytes);
    expect(await gunzip(fromBase64(` ${text}\n`))).toEqual(bytes);
    expect(() => fromBase64("not base64!")).toThrow(Broken);
    const packed = fromBase64(text);
    await expect(gunzip(packed.subarray(0, packed.length - 5))).rejects.toThrow(Broken);
    const flipped = packed.slice();
    flipped[flipped.length - 6] ^= 1;
    await expect(gunzip(flipped)).rejects.toThrow(Broken);
  });
});
