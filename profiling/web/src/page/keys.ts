// The keyboard: arrows and wasd pan and zoom, 0 resets, Escape clears, / goes to the search.

import type { Store } from "../state";
import { panned, zoomed, type Window } from "../view";

export type Key = "left" | "right" | "in" | "out" | "reset" | "clear" | "search" | "next" | "previous";

const KEYS: Record<string, Key> = {
  ArrowLeft: "left", a: "left", ArrowRight: "right", d: "right",
  ArrowUp: "in", w: "in", "+": "in", "=": "in", ArrowDown: "out", s: "out", "-": "out",
  "0": "reset", Escape: "clear", "/": "search", n: "next", p: "previous",
};

export function keyOf(event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey">, onPanel: boolean): Key | null {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  const key = KEYS[event.key] ?? null;
  // The arrows up and down scroll the page unless a panel has the focus.
  return (event.key === "ArrowUp" || event.key === "ArrowDown") && !onPanel ? null : key;
}

export function moved(window: Window, key: Key, span: number): Window | null {
  const width = window.to - window.from;
  const middle = (window.from + window.to) / 2;
  switch (key) {
    case "left":
      return panned(window, -0.15 * width, span);
    case "right":
      return panned(window, 0.15 * width, span);
    case "in":
      return zoomed(window, middle, 1.5, span);
    case "out":
      return zoomed(window, middle, 1 / 1.5, span);
    case "reset":
      return { from: 0, to: span };
    default:
      return null;
  }
}

export function listen(store: Store, span: number, other: (key: Key) => void): void {
  document.addEventListener("keydown", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    if (target?.closest("input, select, textarea") !== null && target !== null) return;
    const key = keyOf(event, target?.closest("canvas") !== null && target !== null);
    if (key === null) return;
    const window = moved(store.state().window, key, span);
    if (window !== null) {
      event.preventDefault();
      store.set({ window });
    } else {
      if (key === "search") event.preventDefault();
      other(key);
    }
  });
}
