// One panel of one run on its canvas: frame, picture, what lies under the pointer. Knows one `Drawn`; cards hold several of these.

import type { Drawn, Frame, LegendEntry } from "../panels/panel";
import { plotOf } from "../panels/panel";
import type { Store } from "../state";
import type { Theme } from "../theme";
import { surfaceOf, type Surface } from "./surface";

export interface View {
  drawn: Drawn;
  surface: Surface;
  title: string;
  run: number;
  frame(): Frame;
  // By where the canvas is on the screen.
  visible(): boolean;
  paint(): void;
  stale: boolean;
}

export interface Around {
  store: Store;
  theme(): Theme;
  span: number;
  // Every codelet of the report once, for legends.
  codelets(theme: Theme): LegendEntry[];
}

export function viewOf(drawn: Drawn, title: string, run: number, around: Around): View {
  const surface = surfaceOf(`${title}: ${drawn.words}`);
  const frame = (): Frame => {
    const state = around.store.state();
    const width = surface.canvas.clientWidth;
    const height = drawn.height(width, state);
    return { width, height, plot: plotOf(width, height, drawn.margins), window: state.window, span: around.span, theme: around.theme(), state };
  };
  const view: View = {
    drawn, surface, title, run, frame, stale: true,
    visible() {
      const { top, bottom, width } = surface.canvas.getBoundingClientRect();
      return width > 0 && bottom > -100 && top < window.innerHeight + 100;
    },
    paint() {
      const f = frame();
      surface.resize(f.width, f.height);
      surface.paint(f.theme, f.state, (p) => drawn.draw(p, f));
      view.stale = false;
    },
  };
  surface.canvas.style.height = `${drawn.height(1000, around.store.state())}px`;
  return view;
}
