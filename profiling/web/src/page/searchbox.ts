// The search field with its list of answers. search.ts knows what a query means; what follows a choice is the page's business.

import { fill, h } from "../dom";
import type { Run } from "../run";
import { find, type Found } from "../search";

export interface SearchBox {
  element: HTMLElement;
  focus(): void;
}

const MOST = 10;

export function searchBox(runs: Run[], choose: (found: Found) => void): SearchBox {
  let found: Found[] = [];
  let at = 0;
  const list = h("ul", { class: "found", role: "listbox", id: "found", hidden: true });
  const input = h("input", {
    type: "search", placeholder: "task 123, node 45, geqrt, slow …", "aria-label": "search a task, a node, a codelet or slow tasks",
    role: "combobox", "aria-controls": "found", "aria-expanded": "false", autocomplete: "off", spellcheck: "false",
  });
  const take = (k: number): void => {
    const one = found[k];
    if (one === undefined) return;
    close();
    input.blur();
    choose(one);
  };
  const close = (): void => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
  };
  const show = (): void => {
    found = find(input.value, runs).slice(0, MOST);
    at = Math.min(at, Math.max(found.length - 1, 0));
    const none = input.value.trim() !== "" && found.length === 0;
    fill(list, ...(none ? [h("li", { class: "none" }, "nothing of that name")] : found.map((one, k) =>
      h("li", { role: "option", "aria-selected": k === at, pointerdown: (event) => {
        event.preventDefault();
        take(k);
      } }, one.label, h("span", {}, one.note)))));
    list.hidden = found.length === 0 && !none;
    input.setAttribute("aria-expanded", String(!list.hidden));
  };
  input.addEventListener("input", () => {
    at = 0;
    show();
  });
  input.addEventListener("focus", show);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      at = (at + (event.key === "ArrowDown" ? 1 : found.length - 1)) % Math.max(found.length, 1);
      show();
    } else if (event.key === "Enter") take(at);
    else if (event.key === "Escape") {
      input.value = "";
      input.blur();
    }
  });
  return { element: h("div", { class: "search" }, input, list), focus: () => input.focus() };
}
