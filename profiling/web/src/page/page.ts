// The whole page: head, hints, bar, strip, cards, details; and what follows from what. Everything else draws or describes one thing.

import { fill, h } from "../dom";
import { moment } from "../number";
import type { Run } from "../run";
import { neighbour, slowTasks, type Found } from "../search";
import { once } from "../run";
import { summary } from "../describe";
import { same, storeOf, type Selection, type State, type ThemeChoice } from "../state";
import { DARK, LIGHT, type Theme } from "../theme";
import { read, written } from "../url";
import { around, type Window } from "../view";
import { barOf, codeletsOf } from "./bar";
import { cardsOf, type Data } from "./cards";
import { detailsOf } from "./details";
import { clockOf } from "./frame";
import { headOf } from "./head";
import { hintsOf, type Target } from "./hints";
import { attach, type Hands } from "./input";
import { listen } from "./keys";
import { searchBox } from "./searchbox";
import { stripOf } from "./strip";
import { tooltipOf } from "./tooltip";
import type { Around } from "./view";

export function open(root: HTMLElement, data: Data): void {
  const { report, runs } = data;
  const span = Math.max(...report.runs.map((run) => run.span_ns), 1);
  const store = storeOf(read(location.hash, span));
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let printing = false;
  const theme = (): Theme => {
    const choice = store.state().theme;
    return !printing && (choice === "dark" || (choice === "auto" && dark.matches)) ? DARK : LIGHT;
  };
  const place: Around = { store, theme, span, codelets: (t) => codeletsOf(runs, t) };
  const tooltip = tooltipOf();
  const line = h("div", { class: "line", hidden: true });
  const time = h("output", { class: "time", hidden: true });
  const band = h("div", { class: "band", hidden: true });

  const choose = (selection: Selection | null): void => {
    if (!same(selection, store.state().selection)) store.set({ selection }, "jump");
  };
  const zoomTo = (selection: Selection): void => {
    const window = windowOf(selection, runs, span);
    if (window !== null) store.set({ selection, window }, "jump");
  };
  const cards = cardsOf(data, place, (selection) => (selection.kind === "task" ? zoomTo(selection) : choose(selection)));
  const views = cards.flatMap((card) => card.views);
  const go = ({ panel, window, selection }: Target): void => {
    const { folded } = store.state();
    store.set({ selection, folded: folded.filter((id) => id !== panel), ...(window === null ? {} : { window }) }, "jump");
    document.getElementById(`panel-${panel ?? "gantt"}`)?.scrollIntoView({ behavior: "smooth", block: "start" });
  };
  const slow = once(() => slowTasks(runs));
  const step = (by: 1 | -1): void => {
    const { selection, window } = store.state();
    const next = neighbour(slow(), selection, (window.from + window.to) / 2, by);
    if (next === null) return;
    const chosen: Selection = { kind: "task", run: next.run, id: next.id };
    const inView = next.start >= window.from && next.start <= window.to;
    store.set({ selection: chosen, ...(inView ? {} : { window: centred(window, next.start, span) }) }, "jump");
  };
  const answer = (found: Found): void => {
    if (found.kind === "codelet") store.set({ codelet: found.codelet });
    else if (found.kind === "slow") step(1);
    else zoomTo(found.selection);
  };

  const showBand = (left: number | null, right: number): void => {
    band.hidden = left === null;
    band.style.left = `${left ?? 0}px`;
    band.style.width = `${right - (left ?? 0)}px`;
  };
  const themes = h("select", { "aria-label": "colours of the page", change: () => store.set({ theme: themes.value as ThemeChoice }) },
    ...[["auto", "as the system"], ["light", "light"], ["dark", "dark"]].map(([value, label]) => h("option", { value }, label)));
  const search = searchBox(runs, answer);
  const bar = barOf(runs, place, search.element, step);
  const strip = stripOf(runs, store, span, theme, showBand);
  strip.element.append(time);
  const details = detailsOf(runs, theme, { choose, zoom: zoomTo });
  const clock = clockOf(() => views, () => strip.paint());
  const hands: Hands = {
    store, span, tooltip, choose, band: showBand,
    line(x, at) {
      line.hidden = time.hidden = x === null;
      if (x === null) return;
      line.style.left = time.style.left = `${x}px`;
      const { from, to } = store.state().window;
      time.textContent = moment(at, to - from);
    },
    redraw(view) {
      clock.touch([view]);
      cards.find((card) => card.views.includes(view))?.update(store.state());
    },
  };
  for (const view of views) attach(view, hands);

  const column = h("main", {}, h("div", { class: "top" }, bar.element, strip.element), ...cards.map((card) => card.element), line, band);
  fill(root, headOf(report, h("label", { class: "theme" }, "Colours", themes)), hintsOf(runs, span, go), column, foot(report.program), tooltip.element, details.element);
  listen(store, span, (key) => {
    if (key === "search") search.focus();
    else if (key === "clear") store.set({ selection: null, codelet: null }, "jump");
    else step(key === "next" ? 1 : -1);
  });

  const update = (state: State): void => {
    document.documentElement.dataset["theme"] = theme().dark ? "dark" : "light";
    themes.value = state.theme;
    bar.update(state);
    details.update(state);
    for (const card of cards) card.update(state);
    clock.touch();
  };
  let timer = 0;
  store.listen((state, before, kind) => {
    // Movements change the window alone, many times a second.
    const { window: _, ...rest } = state;
    const moved = Object.entries(rest).every(([key, value]) => before[key as keyof State] === value);
    if (moved) {
      bar.window(state.window);
      clock.touch(views.filter((view) => view.drawn.timed));
    } else update(state);
    clearTimeout(timer);
    const hash = `#${written(state, span)}`;
    if (kind === "jump") remember(hash, true);
    else timer = window.setTimeout(() => remember(hash, false), 250);
  });
  window.addEventListener("popstate", () => store.set(read(location.hash, span)));
  dark.addEventListener("change", () => update(store.state()));
  // A new width, and whatever brings canvases into sight: folded panels, opened details.
  new ResizeObserver(() => clock.touch()).observe(column);
  const print = (now: boolean): void => {
    printing = now;
    update(store.state());
    clock.all();
  };
  window.addEventListener("beforeprint", () => print(true));
  window.addEventListener("afterprint", () => print(false));
  update(store.state());
}

const centred = (window: Window, at: number, span: number): Window => {
  const half = (window.to - window.from) / 2;
  return around(at - half, at + half, span, 0);
};

export function windowOf(selection: Selection, runs: Run[], span: number): Window | null {
  const run = runs[selection.run];
  if (run === undefined) return null;
  if (selection.kind === "node") {
    const of = summary(run, selection.node);
    return of === null || of.tasks === 0 ? null : around(of.from_ns, of.to_ns, span);
  }
  const row = run.rowOf(selection.id);
  return row === null ? null : around(run.tasks.start[row], run.tasks.start[row] + run.tasks.duration[row], span, 8);
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

const foot = (program: string): HTMLElement =>
  h("footer", {}, `${program}. `,
    "Ctrl or ⌘ and wheel, or pinch: zoom. Drag: pan. Shift and drag, or drag on the time axis: zoom into a span. Double click: zoom in. ",
    "Keys: arrows or wasd, 0 for the whole run, / search, n and p from one slow task to the next, Esc.");
