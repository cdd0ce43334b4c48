// The bar above the strip: window, search, slow tasks, codelets.

import { button, fill, h } from "../dom";
import { duration, moment } from "../number";
import type { LegendEntry } from "../panels/panel";
import type { Run } from "../run";
import type { State } from "../state";
import type { Theme } from "../theme";
import type { Window } from "../view";
import { item } from "./card";
import type { Around } from "./view";

export interface Bar {
  element: HTMLElement;
  update(state: State): void;
  window(window: Window): void;
}

export function barOf(runs: Run[], place: Around, search: HTMLElement, step: (by: 1 | -1) => void): Bar {
  const { store, span } = place;
  const slow = runs.reduce((sum, run) => sum + run.tasks.anomalous.length, 0);
  const legend = h("div", { class: "legend codelets", role: "group", "aria-label": "codelets" });
  const text = h("output", { class: "window" });
  const pale = h("input", { type: "checkbox", change: () => store.set({ pale: pale.checked }) });
  const whole = button("Whole run", () => store.set({ window: { from: 0, to: span } }, "jump"), { title: "show the whole run (0)" });
  const window = ({ from, to }: Window): void => {
    const all = to - from >= span * 0.9999;
    whole.hidden = all;
    fill(text, h("b", {}, duration(to - from, 3)), all ? " in view, the whole run" : ` in view, from ${moment(from, to - from)}`);
  };
  const element = h("nav", { class: "bar", "aria-label": "view" }, search, text, whole,
    slow > 0 && h("span", { class: "slow" },
      h("label", { title: "what is not slow becomes pale" }, pale, "slow tasks stand out"),
      button("‹", () => step(-1), { "aria-label": "previous slow task", title: "previous slow task (p)" }),
      button("›", () => step(1), { "aria-label": "next slow task", title: "next slow task (n)" })),
    legend);
  return {
    element, window,
    update(state) {
      pale.checked = state.pale;
      window(state.window);
      fill(legend, ...place.codelets(place.theme()).map((entry) => item(entry, place)));
    },
  };
}

// Those that ran, once for both runs.
export function codeletsOf(runs: Run[], theme: Theme): LegendEntry[] {
  const names = new Map<string, LegendEntry>();
  for (const run of runs) {
    for (const { name, colour } of run.head.codelets) names.set(name, { name, colour: theme.data(colour), codelet: name });
  }
  return [...names.values()];
}
