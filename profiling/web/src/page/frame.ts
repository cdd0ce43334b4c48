// When what is drawn: at most once a screen refresh, only what is on the screen and has changed.

import type { View } from "./view";

export interface Clock {
  // Something has changed for these; without any, for all.
  touch(views?: View[]): void;
  // Everything at once, now: before the page is printed.
  all(): void;
}

export function clockOf(views: () => View[], after: () => void): Clock {
  let asked = false;
  const frame = (): void => {
    asked = false;
    for (const view of views()) if (view.stale && view.visible()) view.paint();
    after();
  };
  const ask = (): void => {
    if (!asked) requestAnimationFrame(frame);
    asked = true;
  };
  window.addEventListener("scroll", ask, { passive: true });
  return {
    touch(some) {
      for (const view of some ?? views()) view.stale = true;
      ask();
    },
    all() {
      for (const view of views()) view.paint();
      after();
    },
  };
}
