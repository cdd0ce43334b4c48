// Mouse, pen and touch on a panel: zoom at the pointer, pan, select a span, choose what lies there.
//
// The wheel alone scrolls the page; with ctrl or ⌘ (and a pinch on a touchpad, which browsers report so) it zooms.
// Dragging pans; with shift it selects a span to zoom into. One finger across pans, two pinch. Keys: keys.ts.

import type { Selection, Store } from "../state";
import { clamped, inside, panned, scaleOf, zoomed } from "../view";
import type { Tooltip } from "./tooltip";
import type { View } from "./view";

export interface Hands {
  store: Store;
  span: number;
  tooltip: Tooltip;
  // The line at the pointer's time; null: none.
  line(x: number | null, at: number): void;
  // The span that is being selected.
  band(left: number | null, right: number): void;
  choose(selection: Selection | null): void;
  redraw(view: View): void;
}

// A click may tremble by so many pixels.
const TREMBLE = 4;

export const wheelFactor = (event: WheelEvent): number => {
  const lines = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
  return Math.exp(-Math.min(Math.max(event.deltaY * lines, -120), 120) * (event.ctrlKey && Math.abs(event.deltaY) < 30 ? 0.01 : 0.0035));
};

export function attach(view: View, hands: Hands): void {
  const { canvas } = view.surface;
  const { store, span, tooltip } = hands;
  const fingers = new Map<number, { x: number; y: number }>();
  let drag: { x: number; y: number; moved: boolean; select: boolean; pinch: number } | null = null;
  const place = (event: MouseEvent): { x: number; y: number } => {
    const { left, top } = canvas.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };
  const zoom = (x: number, y: number, factor: number): void => {
    const f = view.frame();
    if (view.drawn.timed) {
      const at = Math.min(Math.max(scaleOf(f.window, f.plot).ns(x), f.window.from), f.window.to);
      store.set({ window: zoomed(f.window, at, factor, span) });
    } else if (view.drawn.own !== undefined && inside(f.plot, x, y)) {
      view.drawn.own.zoom(x, y, factor, f);
      hands.redraw(view);
    }
  };
  const pan = (dx: number, dy: number): void => {
    const f = view.frame();
    if (view.drawn.timed) store.set({ window: panned(f.window, -dx * scaleOf(f.window, f.plot).perPixel, span) });
    else if (view.drawn.own !== undefined) {
      view.drawn.own.pan(dx, dy, f);
      hands.redraw(view);
    }
  };
  const hover = (event: PointerEvent): void => {
    const { x, y } = place(event);
    const f = view.frame();
    const within = x >= f.plot.x && x <= f.plot.x + f.plot.width;
    hands.line(view.drawn.timed && within ? x : null, scaleOf(f.window, f.plot).ns(x));
    const hit = view.drawn.hit(x, y, f);
    if (hit === null) tooltip.hide();
    else tooltip.show(hit, event.clientX, event.clientY);
    canvas.style.cursor = hit?.select !== undefined ? "pointer" : "";
  };

  canvas.addEventListener("wheel", (event) => {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const { x, y } = place(event);
      zoom(x, y, wheelFactor(event));
    } else if (view.drawn.timed && (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))) {
      event.preventDefault();
      pan(-(event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX), 0);
    }
  }, { passive: false });

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const { x, y } = place(event);
    fingers.set(event.pointerId, { x, y });
    canvas.setPointerCapture(event.pointerId);
    drag = { x, y, moved: false, select: event.shiftKey && view.drawn.timed, pinch: 0 };
    tooltip.hide();
  });

  canvas.addEventListener("pointermove", (event) => {
    const { x, y } = place(event);
    const finger = fingers.get(event.pointerId);
    if (finger === undefined || drag === null) {
      if (event.pointerType !== "touch") hover(event);
      return;
    }
    const [dx, dy] = [x - finger.x, y - finger.y];
    if (fingers.size === 2) {
      const before = spread(fingers);
      fingers.set(event.pointerId, { x, y });
      const after = spread(fingers);
      drag.moved = true;
      zoom(after.x, after.y, Math.max(after.apart, 20) / Math.max(before.apart, 20));
      pan(after.x - before.x, after.y - before.y);
      return;
    }
    if (!drag.moved && Math.hypot(x - drag.x, y - drag.y) < TREMBLE) return;
    if (!drag.moved && !drag.select) canvas.style.cursor = "grabbing";
    drag.moved = true;
    fingers.set(event.pointerId, { x, y });
    if (drag.select) hands.band(Math.min(x, drag.x), Math.max(x, drag.x));
    else pan(dx, dy);
  });

  const release = (event: PointerEvent): void => {
    if (!fingers.delete(event.pointerId) || drag === null) return;
    const { x, y } = place(event);
    const done = drag;
    if (fingers.size > 0) return;
    drag = null;
    canvas.style.cursor = "";
    if (done.select) {
      hands.band(null, 0);
      const f = view.frame();
      const scale = scaleOf(f.window, f.plot);
      if (done.moved) {
        const [from, to] = [Math.min(x, done.x), Math.max(x, done.x)].map((at) => scale.ns(at));
        store.set({ window: clamped({ from, to }, span) }, "jump");
        return;
      }
    }
    if (!done.moved && event.type === "pointerup") hands.choose(view.drawn.hit(x, y, view.frame())?.select ?? null);
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => {
    tooltip.hide();
    hands.line(null, 0);
  });
  canvas.addEventListener("dblclick", (event) => {
    const { x, y } = place(event);
    zoom(x, y, event.shiftKey ? 1 / 3 : 3);
  });
}

function spread(fingers: Map<number, { x: number; y: number }>): { x: number; y: number; apart: number } {
  const [a, b] = [...fingers.values()];
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, apart: Math.hypot(a.x - b.x, a.y - b.y) };
}
