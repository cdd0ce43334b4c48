// The whole page: head, bar, strip, cards, details; and what follows from what. Everything else draws or describes one thing.

import { button, fill, h } from "../dom";
import type { Panel, Report } from "../format";
import type { Columns } from "../decode";
import { drawn } from "../panels/index";
import type { LegendEntry } from "../panels/panel";
import type { Run } from "../run";
import { option, same, storeOf, withOption, type Selection, type State, type ThemeChoice } from "../state";
import { DARK, LIGHT, type Theme } from "../theme";
import { read, written } from "../url";
import { around, type Window } from "../view";
import { duration, moment } from "../number";
import { cardOf, item, type Card } from "./card";
import { clockOf } from "./frame";
import { headOf, NAMES } from "./head";
import { attach, type Hands } from "./input";
import { listen } from "./keys";
import { stripOf } from "./strip";
import { tooltipOf } from "./tooltip";
import { viewOf, type Around, type View } from "./view";

export interface Data {
  report: Report;
  runs: Run[];
  comparison: Columns | null;
}

export function open(root: HTMLElement, { report, runs, comparison }: Data): void {
  const span = Math.max(...report.runs.map((run) => run.span_ns), 1);
  const store = storeOf(read(location.hash, span));
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let printing = false;
  const theme = (): Theme => {
    const choice = store.state().theme;
    return !printing && (choice === "dark" || (choice === "auto" && dark.matches)) ? DARK : LIGHT;
  };
  const place: Around = { store, theme, span };
  const tooltip = tooltipOf();
  const line = h("div", { class: "line", hidden: true });
  const time = h("output", { class: "time", hidden: true });
  const band = h("div", { class: "band", hidden: true });
  const column = h("main", {}, line, band);

  const cards = cardsOf(report, runs, comparison, place);
  const views = cards.flatMap((card) => card.views);
  const showBand = (left: number | null, right: number): void => {
    band.hidden = left === null;
    band.style.left = `${left ?? 0}px`;
    band.style.width = `${right - (left ?? 0)}px`;
  };
  const strip = stripOf(runs, store, span, theme, showBand);
  const clock = clockOf(() => views, () => strip.paint());
  const goTo = (selection: Selection | null, window: Window | null = null): void =>
    store.set({ selection, ...(window === null ? {} : { window }) }, "jump");

  const hands: Hands = {
    store, span, tooltip,
    line(x, at) {
      line.hidden = time.hidden = x === null;
      if (x === null) return;
      line.style.left = time.style.left = `${x}px`;
      const { from, to } = store.state().window;
      time.textContent = moment(at, to - from);
    },
    band: showBand,
    choose: (selection) => goTo(selection),
    redraw: (view) => {
      clock.touch([view]);
      for (const card of cards) if (card.views.includes(view)) card.update(store.state());
    },
  };
  for (const view of views) attach(view, hands);

  const legend = h("div", { class: "legend codelets", "aria-label": "codelets" });
  const windowText = h("output", { class: "window" });
  const pale = h("input", { type: "checkbox", change: () => store.set({ pale: pale.checked }) });
  const themes = h("select", { "aria-label": "colours of the page", change: () => store.set({ theme: themes.value as ThemeChoice }) },
    ...["auto", "light", "dark"].map((value) => h("option", { value }, value)));
  const reset = button("Whole run", () => store.set({ window: { from: 0, to: span } }, "jump"), { title: "show the whole run (key 0)" });
  const bar = h("nav", { class: "bar" }, windowText, reset,
    h("label", { title: "other tasks are pale" }, pale, "slow tasks stand out"), legend,
    h("label", { class: "right" }, "Colours", themes));
  const top = h("div", { class: "top" }, bar, strip.element);
  strip.element.append(time);
  column.prepend(top);
  column.append(...cards.map((card) => card.element));
  fill(root, headOf(report), column, foot(report), tooltip.element);
  listen(store, span, (key) => {
    if (key === "clear") store.set({ selection: null, codelet: null }, "jump");
  });

  const update = (state: State): void => {
    document.documentElement.dataset["theme"] = theme().dark ? "dark" : "light";
    const { from, to } = state.window;
    fill(windowText, h("b", {}, duration(to - from, 3)), to - from >= span ? " whole run" : ` from ${moment(from, to - from)}`);
    pale.checked = state.pale;
    themes.value = state.theme;
    fill(legend, ...codelets(runs, theme()).map((entry) => item(entry, place)));
    for (const card of cards) card.update(state);
    clock.touch();
  };
  let timer = 0;
  store.listen((state, before, step) => {
    // The window alone changes with every movement: only what shows it follows.
    const only = state.codelet === before.codelet && state.options === before.options && state.theme === before.theme
      && state.folded === before.folded && state.pale === before.pale && same(state.selection, before.selection);
    if (only) clock.touch();
    if (only) fill(windowText, h("b", {}, duration(state.window.to - state.window.from, 3)), ` from ${moment(state.window.from, state.window.to - state.window.from)}`);
    else update(state);
    clearTimeout(timer);
    const hash = `#${written(state, span)}`;
    if (step === "jump") remember(hash, true);
    else timer = window.setTimeout(() => remember(hash, false), 250);
  });
  const back = (): void => store.set(read(location.hash, span));
  window.addEventListener("popstate", back);
  dark.addEventListener("change", () => update(store.state()));
  // A new width, and whatever moves canvases into sight: folded panels, opened details.
  new ResizeObserver(() => clock.touch()).observe(column);
  window.addEventListener("beforeprint", () => print(true));
  window.addEventListener("afterprint", () => print(false));
  const print = (now: boolean): void => {
    printing = now;
    update(store.state());
    clock.all();
  };
  update(store.state());
  void around;
  void option;
  void withOption;
}

function remember(hash: string, step: boolean): void {
  if (location.hash === hash || (hash === "#" && location.hash === "")) return;
  // Some browsers allow no history for files; the page works without.
  try {
    if (step) history.pushState(null, "", hash);
    else history.replaceState(null, "", hash);
  } catch {
    return;
  }
}

function codelets(runs: Run[], theme: Theme): LegendEntry[] {
  const names = new Map<string, LegendEntry>();
  for (const run of runs) {
    for (const codelet of run.head.codelets) names.set(codelet.name, { name: codelet.name, colour: theme.data(codelet.colour), codelet: codelet.name });
  }
  return [...names.values()];
}

function cardsOf(report: Report, runs: Run[], comparison: Columns | null, place: Around): Card[] {
  const two = runs.length > 1;
  const cards: Card[] = [];
  const sections: { panels: Panel[]; of: { panel: Panel; run: Run; columns: Columns; name: string | null }[][] }[] = [];
  if (report.comparison !== null && comparison !== null) {
    const { panels } = report.comparison;
    sections.push({ panels, of: panels.map((panel) => [{ panel, run: runs[0], columns: comparison, name: null }]) });
  }
  const ids = new Map<string, { panel: Panel; run: Run; columns: Columns; name: string | null }[]>();
  for (const run of runs) {
    for (const panel of run.head.panels) {
      const entry = { panel, run, columns: run.columns, name: two ? `${NAMES[run.index]}  ${run.head.name}` : null };
      ids.set(panel.id, [...(ids.get(panel.id) ?? []), entry]);
    }
  }
  sections.push({ panels: [...ids.values()].map((entries) => entries[0].panel), of: [...ids.values()] });
  for (const { of } of sections) {
    for (const entries of of) {
      const panel = entries[0].panel;
      const shown: View[] = [];
      const names: (string | null)[] = [];
      entries.forEach((entry, k) => {
        const other = entries[1 - k];
        const peer = other === undefined ? null : { panel: other.panel, columns: other.columns };
        const made = drawn({ panel: entry.panel, run: entry.run, columns: entry.columns, peer, span: place.span });
        if (made === null) return;
        shown.push(viewOf(made, panel.title, entry.run.index, place));
        names.push(entry.name);
      });
      if (shown.length > 0) cards.push(cardOf(panel, shown, names, place));
    }
  }
  return cards;
}

function foot(report: Report): HTMLElement {
  return h("footer", {}, `${report.program}. `,
    "Wheel with ctrl or ⌘: zoom. Drag: pan. Shift and drag, or drag on the time axis: zoom into a span. Double click: zoom in. ",
    "Keys: arrows or wasd, 0 the whole run, / search, n and p from one slow task to the next, Esc.");
}
