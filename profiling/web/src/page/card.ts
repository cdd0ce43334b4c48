// A panel as the page shows it: heading to fold, sentence, tools, legend, one picture a run, export.

import { css } from "../colour";
import { button, fill, h, prose } from "../dom";
import type { Panel } from "../format";
import type { LegendEntry } from "../panels/panel";
import { option, withOption, type State } from "../state";
import { exportButtons } from "./export";
import type { Around, View } from "./view";

export interface Card {
  id: string;
  element: HTMLElement;
  views: View[];
  // Brings buttons and legend to the state.
  update(state: State): void;
}

export function cardOf(panel: Panel, views: View[], names: (string | null)[], around: Around, extra: HTMLElement[] = []): Card {
  const { store } = around;
  const folded = (state: State): boolean => state.folded.includes(panel.id);
  const fold = button(panel.title, () => {
    const state = store.state();
    store.set({ folded: folded(state) ? state.folded.filter((id) => id !== panel.id) : [...state.folded, panel.id] });
  }, { class: "fold", "aria-controls": `body-${panel.id}` });
  const tools = h("div", { class: "tools" });
  const legend = h("div", { class: "legend" });
  const pictures = views.map((view, k) =>
    h("figure", {}, names[k] === null ? null : h("figcaption", {}, names[k]), view.surface.canvas));
  const body = h("div", { class: "body", id: `body-${panel.id}` }, h("p", { class: "about" }, ...prose(panel.about)), legend, ...pictures, ...extra);
  const element = h("section", { class: `panel ${panel.kind}`, id: `panel-${panel.id}`, "aria-label": panel.title },
    h("header", {}, h("h2", {}, fold), tools), body);
  const resets = views.filter((view) => view.drawn.own !== undefined).map((view) => {
    const reset = button("Reset zoom", () => {
      view.drawn.own?.reset();
      view.stale = true;
      store.set({});
    });
    return { reset, view };
  });
  const choices = views[0]?.drawn.tools ?? [];
  const selects = choices.map((tool) => {
    const fallback = tool.choices[0][0];
    const select = h("select", { "aria-label": `${panel.title}: ${tool.label}`, change: () =>
      store.set({ options: withOption(store.state(), tool.key, select.value, fallback) }) },
      ...tool.choices.map(([value, label]) => h("option", { value }, label)));
    return { select, tool, fallback };
  });
  fill(tools,
    ...selects.map(({ select, tool }) => h("label", {}, tool.label, select)),
    ...resets.map(({ reset }) => reset),
    ...exportButtons(panel, views, around));

  return {
    id: panel.id,
    element,
    views,
    update(state) {
      const closed = folded(state);
      element.classList.toggle("folded", closed);
      fold.setAttribute("aria-expanded", String(!closed));
      for (const { select, tool, fallback } of selects) select.value = option(state, tool.key, fallback);
      for (const { reset, view } of resets) reset.hidden = view.drawn.own?.zoomed() !== true;
      const entries = unique(views.flatMap((view) => view.drawn.legend(around.theme(), state)));
      fill(legend, ...entries.map((entry) => item(entry, around)));
      legend.hidden = entries.length === 0;
    },
  };
}

function unique(entries: LegendEntry[]): LegendEntry[] {
  const seen = new Set<string>();
  return entries.filter((entry) => !seen.has(entry.name) && seen.add(entry.name));
}

export function item(entry: LegendEntry, { store }: Around): HTMLElement {
  const swatch = h("i", { style: `background:${css(entry.colour)}` });
  const state = store.state();
  if (entry.codelet !== undefined) {
    const { codelet } = entry;
    const on = state.codelet === codelet;
    const press = (): void => store.set({ codelet: store.state().codelet === codelet ? null : codelet });
    return h("button", { type: "button", class: state.codelet === null || on ? "key" : "key off", "aria-pressed": on, click: press,
      title: `show where ${codelet} ran` }, swatch, entry.name);
  }
  if (entry.hide !== undefined) {
    const { hide, hidden } = entry;
    const press = (): void => store.set({ options: withOption(store.state(), hide, hidden === true ? "1" : "0", "1") });
    return h("button", { type: "button", class: hidden === true ? "key off" : "key", "aria-pressed": hidden !== true, click: press,
      title: "show or hide" }, swatch, entry.name);
  }
  return h("span", { class: "key" }, swatch, entry.name);
}
