// The strip that stays at the top: overview with brush, time axis. Both are surfaces with hands of their own.

import { h } from "../dom";
import type { Frame } from "../panels/panel";
import { plotOf } from "../panels/panel";
import type { Run } from "../run";
import type { Store } from "../state";
import type { Theme } from "../theme";
import { clamped, panned, scaleOf, zoomed, type Window } from "../view";
import { drawAxis } from "./axis";
import { wheelFactor } from "./input";
import { busy, dragged, drawOverview, gripAt, OVERVIEW_PARTS, type Grip } from "./overview";
import { surfaceOf, type Surface } from "./surface";

export interface Strip {
  element: HTMLElement;
  paint(): void;
}

export function stripOf(runs: Run[], store: Store, span: number, theme: () => Theme, band: (left: number | null, right: number) => void): Strip {
  const overview = surfaceOf("the whole run in small, and the part of it that is shown");
  const axis = surfaceOf("time axis of all panels");
  const curves = runs.map((run) => busy(run, OVERVIEW_PARTS, span));
  const heights = { overview: 22 + 14 * runs.length, axis: 26 };
  const frame = (surface: Surface, height: number, top: number): Frame => {
    const width = surface.canvas.clientWidth;
    const state = store.state();
    return { width, height, plot: plotOf(width, height, { top, bottom: top === 0 ? 0 : 4 }), window: state.window, span, theme: theme(), state };
  };
  const wide = (): Frame => frame(overview, heights.overview, 4);
  const ruled = (): Frame => frame(axis, heights.axis, 0);
  overview.canvas.style.height = `${heights.overview}px`;
  axis.canvas.style.height = `${heights.axis}px`;
  brush(overview, wide, store);
  ruler(axis, ruled, store, span, band);
  return {
    element: h("div", { class: "strip" }, overview.canvas, axis.canvas),
    paint() {
      const [f, g] = [wide(), ruled()];
      overview.resize(f.width, f.height);
      overview.paint(f.theme, f.state, (p) => drawOverview(p, f, curves));
      axis.resize(g.width, g.height);
      axis.paint(g.theme, g.state, (p) => drawAxis(p, g));
    },
  };
}

function brush({ canvas }: Surface, frame: () => Frame, store: Store): void {
  let held: { grip: Grip; x: number; before: Window } | null = null;
  const x = (event: MouseEvent): number => event.clientX - canvas.getBoundingClientRect().left;
  const shapes: Record<Grip, string> = { left: "ew-resize", right: "ew-resize", window: "grab", new: "crosshair" };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    const f = frame();
    held = { grip: gripAt(x(event), f, event.pointerType === "touch" ? 16 : 7), x: x(event), before: f.window };
  });
  canvas.addEventListener("pointermove", (event) => {
    const f = frame();
    if (held === null) canvas.style.cursor = shapes[gripAt(x(event), f, 7)];
    else if (held.grip !== "new" || Math.abs(x(event) - held.x) > 3) {
      store.set({ window: dragged(held.grip, held.x, x(event), held.before, f) });
    }
  });
  const release = (event: PointerEvent): void => {
    // A press beside the window brings it there.
    if (held !== null && held.grip === "new" && Math.abs(x(event) - held.x) <= 3) {
      const f = frame();
      const at = scaleOf({ from: 0, to: f.span }, f.plot).ns(x(event));
      store.set({ window: panned(f.window, at - (f.window.from + f.window.to) / 2, f.span) }, "jump");
    }
    held = null;
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("dblclick", () => store.set({ window: { from: 0, to: frame().span } }, "jump"));
}

function ruler({ canvas }: Surface, frame: () => Frame, store: Store, span: number, band: (left: number | null, right: number) => void): void {
  let begin: number | null = null;
  const x = (event: MouseEvent): number => event.clientX - canvas.getBoundingClientRect().left;
  canvas.style.cursor = "crosshair";
  canvas.style.touchAction = "none";
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    begin = x(event);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (begin !== null) band(Math.min(begin, x(event)), Math.max(begin, x(event)));
  });
  canvas.addEventListener("pointerup", (event) => {
    if (begin === null) return;
    const f = frame();
    const scale = scaleOf(f.window, f.plot);
    const [left, right] = [Math.min(begin, x(event)), Math.max(begin, x(event))];
    if (right - left > 4) store.set({ window: clamped({ from: scale.ns(left), to: scale.ns(right) }, span) }, "jump");
    begin = null;
    band(null, 0);
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const f = frame();
    const scale = scaleOf(f.window, f.plot);
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    store.set({ window: sideways ? panned(f.window, event.deltaX * scale.perPixel, span) : zoomed(f.window, scale.ns(x(event)), wheelFactor(event), span) });
  }, { passive: false });
}
