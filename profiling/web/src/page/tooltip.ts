// What lies under the pointer, beside it; and a line at its time through all panels.

import { fill, h } from "../dom";
import type { Hit } from "../panels/panel";

export interface Tooltip {
  element: HTMLElement;
  show(hit: Hit, x: number, y: number): void;
  hide(): void;
}

export function tooltipOf(): Tooltip {
  const element = h("div", { class: "tooltip", role: "tooltip", hidden: true });
  return {
    element,
    show(hit, x, y) {
      fill(element, h("b", {}, hit.title),
        hit.rows.length > 0 && h("dl", {}, ...hit.rows.flatMap(([label, text]) => [h("dt", {}, label), h("dd", {}, text)])));
      element.hidden = false;
      const { width, height } = element.getBoundingClientRect();
      const right = x + 16 + width < window.innerWidth - 8;
      const below = y + 18 + height < window.innerHeight - 8;
      element.style.left = `${Math.max(right ? x + 16 : x - width - 12, 4)}px`;
      element.style.top = `${Math.max(below ? y + 18 : y - height - 12, 4)}px`;
    },
    hide: () => void (element.hidden = true),
  };
}
