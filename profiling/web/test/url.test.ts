// A state survives its address; addresses that nobody wrote give a state all the same.

import { describe, expect, test } from "vitest";
import { storeOf, withOption, type State } from "../src/state";
import { read, written } from "../src/url";
import { random } from "./random";

const SPAN = 5e9;

describe("address", () => {
  test("random states come back", () => {
    const r = random(9);
    const pick = <T>(list: readonly T[]): T => list[r.below(list.length)];
    for (let round = 0; round < 300; round += 1) {
      const from = Math.floor(r.next() * 4e9);
      const state: State = {
        window: pick([{ from: 0, to: SPAN }, { from, to: from + 20 + Math.floor(r.next() * 9e8) }]),
        selection: pick([null, { kind: "task", run: r.below(2), id: r.below(1e6) }, { kind: "node", run: 0, node: r.below(100) }] as const),
        codelet: pick([null, "geqrt", "a&b=c,d:e"]),
        pale: r.next() < 0.5,
        theme: pick(["auto", "light", "dark"] as const),
        folded: pick([[], ["gantt"], ["tree", "a,b"]]),
        options: pick([{}, { "gantt.path": "1" }, { "tree.rows": "all", "chart.a series, with: signs": "0" }]),
      };
      expect(read(`#${written(state, SPAN)}`, SPAN)).toEqual(state);
    }
  });

  test("what is not understood is left out", () => {
    const usual = read("", SPAN);
    expect(usual.window).toEqual({ from: 0, to: SPAN });
    for (const hash of ["#nonsense", "#t=5,1", "#t=a,b", "#task=x", "#task=0.1.2", "#theme=pink", "#=&&=", "#codelets"]) expect(read(hash, SPAN)).toEqual(usual);
    expect(read("#fold=%zz", SPAN).folded).toEqual(["%zz"]);
    expect(written(usual, SPAN)).toBe("");
  });
});

test("options that are as usual are not kept", () => {
  const state = read("#o=gantt.path:1", SPAN);
  expect(withOption(state, "gantt.path", "0", "0")).toEqual({});
  expect(withOption(state, "gantt.path", "2", "0")).toEqual({ "gantt.path": "2" });
});

test("listeners hear the state before and after", () => {
  const store = storeOf(read("", SPAN));
  const heard: [string | null, string | null, string][] = [];
  store.listen((state, before, step) => heard.push([before.codelet, state.codelet, step]));
  store.set({ codelet: "geqrt" }, "jump");
  store.set({ pale: false });
  expect(heard).toEqual([[null, "geqrt", "jump"], ["geqrt", "geqrt", "slide"]]);
});
