// Elements in one call. Takes a tag, properties and children; text is always set as text, never as markup.

export type Child = Node | string | null | undefined | false;

type Properties = Record<string, string | number | boolean | null | ((event: Event) => void)>;

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K, properties: Properties = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (value === null || value === false) continue;
    if (typeof value === "function") element.addEventListener(key, value);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  add(element, children);
  return element;
}

export function add(parent: Element, children: Child[]): void {
  for (const child of children) if (child !== null && child !== undefined && child !== false) parent.append(child);
}

export function fill(parent: Element, ...children: Child[]): void {
  parent.replaceChildren();
  add(parent, children);
}

export const button = (label: string, press: () => void, properties: Properties = {}): HTMLButtonElement =>
  h("button", { type: "button", click: press, ...properties }, label);

// Sentences of the report: what stands between backticks is code.
export const prose = (text: string): Child[] => text.split("`").map((part, k) => (k % 2 === 1 ? h("code", {}, part) : part));
