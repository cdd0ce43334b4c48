// What every panel is: something with a height that draws itself into a frame and says what lies under the pointer.
//
// A kind of panel is one file and one line in `index.ts`. Panels know their run and the frame they are given; they do not know
// each other, the page, or which painter it is.

import type { Colour } from "../colour";
import type { Panel } from "../format";
import type { Painter } from "../paint/painter";
import type { Run } from "../run";
import type { Selection, State } from "../state";
import type { Theme } from "../theme";
import type { Box, Window } from "../view";

export interface Frame {
  width: number;
  height: number;
  plot: Box;
  window: Window;
  span: number;
  theme: Theme;
  state: State;
}

export interface Hit {
  title: string;
  rows: [string, string][];
  select?: Selection;
}

export interface Tool {
  // `panel.option`
  key: string;
  label: string;
  choices: [value: string, label: string][];
}

export interface LegendEntry {
  name: string;
  colour: Colour;
  // As with codelets: a press emphasises it everywhere. Otherwise a press hides it by this option.
  codelet?: string;
  hide?: string;
  hidden?: boolean;
}

// Panels without a time axis have a zoom of their own. Places are pixels of the panel.
export interface OwnZoom {
  zoom(x: number, y: number, factor: number, frame: Frame): void;
  pan(dx: number, dy: number, frame: Frame): void;
  reset(): void;
  zoomed(): boolean;
}

export interface Drawn {
  timed: boolean;
  height(width: number, state: State): number;
  // Room above and below the plot.
  margins: { top: number; bottom: number };
  draw(p: Painter, f: Frame): void;
  hit(x: number, y: number, f: Frame): Hit | null;
  tools: Tool[];
  legend(theme: Theme, state: State): LegendEntry[];
  own?: OwnZoom;
  // What is drawn, in words, for those who cannot see it.
  words: string;
}

export interface Scene<P extends Panel = Panel> {
  panel: P;
  // The run whose panel it is. Comparisons have the first one, and columns of their own.
  run: Run;
  columns: Run["columns"];
  // The same panel of the other run: axes of values are shared.
  peer: { panel: P; columns: Run["columns"] } | null;
  span: number;
}

export const gutters = (width: number): { left: number; right: number } =>
  width < 860 ? { left: 84, right: 44 } : { left: 118, right: 58 };

export function plotOf(width: number, height: number, margins: { top: number; bottom: number }): Box {
  const { left, right } = gutters(width);
  return { x: left, y: margins.top, width: Math.max(width - left - right, 20), height: Math.max(height - margins.top - margins.bottom, 4) };
}
