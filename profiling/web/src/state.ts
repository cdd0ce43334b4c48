// What the reader has chosen: the window of time, the selection, emphasis, theme, folded panels, options of panels.
//
// One value, replaced as a whole; everybody who draws listens. url.ts writes it into the address. Knows no element.

import type { Window } from "./view";

export type Selection =
  | { kind: "task"; run: number; id: number }
  | { kind: "node"; run: number; node: number };

export type ThemeChoice = "auto" | "light" | "dark";

export interface State {
  window: Window;
  selection: Selection | null;
  // Name of a codelet: names hold for both runs.
  codelet: string | null;
  // Whether what is not anomalous is pale.
  pale: boolean;
  theme: ThemeChoice;
  folded: readonly string[];
  // Of panels: `panel.option` to what was chosen.
  options: Readonly<Record<string, string>>;
}

// Whether the change is a step that the browser's "back" undoes.
export type Step = "jump" | "slide";

export interface Store {
  state(): State;
  set(change: Partial<State>, step?: Step): void;
  listen(listener: (state: State, before: State, step: Step) => void): void;
}

export function storeOf(first: State): Store {
  let state = first;
  const listeners: ((state: State, before: State, step: Step) => void)[] = [];
  return {
    state: () => state,
    set(change, step = "slide") {
      const before = state;
      state = { ...state, ...change };
      for (const listener of listeners) listener(state, before, step);
    },
    listen: (listener) => void listeners.push(listener),
  };
}

export function option(state: State, key: string, fallback: string): string {
  return state.options[key] ?? fallback;
}

export function withOption(state: State, key: string, value: string, fallback: string): State["options"] {
  const options = { ...state.options };
  if (value === fallback) delete options[key];
  else options[key] = value;
  return options;
}

export const same = (a: Selection | null, b: Selection | null): boolean => JSON.stringify(a) === JSON.stringify(b);
