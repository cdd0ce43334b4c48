// A strict reader of the XML that the page writes: elements close in order, attributes are quoted, texts are escaped.

export interface Element {
  name: string;
  attributes: Record<string, string>;
  text: string;
  children: Element[];
  all(name: string): Element[];
}

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"' };

function unescaped(text: string): string {
  if (/[<>]/.test(text)) throw new Error(`a bare angle: ${text}`);
  return text.replace(/&(\w*);?/g, (whole, name: string) => {
    const found = ENTITIES[name];
    if (found === undefined || !whole.endsWith(";")) throw new Error(`not an entity: ${whole}`);
    return found;
  });
}

export function parse(source: string): Element {
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/.test(source)) throw new Error("a control character");
  const open: Element[] = [];
  let root: Element | null = null;
  const token = /<(\/?)([A-Za-z]+)((?:\s+[\w:-]+="[^"]*")*)\s*(\/?)>|([^<]+)/gy;
  while (token.lastIndex < source.length) {
    const at = token.lastIndex;
    const match = token.exec(source);
    if (match === null) throw new Error(`no XML at ${at}: ${source.slice(at, at + 60)}`);
    const [, closing, name, rest, empty, text] = match;
    const inside = open[open.length - 1];
    if (text !== undefined) {
      if (inside !== undefined) inside.text += unescaped(text);
      else if (text.trim() !== "") throw new Error(`text outside: ${text}`);
      continue;
    }
    if (closing === "/") {
      if (inside?.name !== name) throw new Error(`</${name}> closes ${inside?.name ?? "nothing"}`);
      open.pop();
      continue;
    }
    const attributes: Record<string, string> = {};
    for (const [, key, value] of rest.matchAll(/([\w:-]+)="([^"]*)"/g)) {
      if (key in attributes) throw new Error(`${key} twice`);
      attributes[key] = unescaped(value);
    }
    const element: Element = {
      name, attributes, text: "", children: [],
      all: (wanted) => [...(element.name === wanted ? [element] : []), ...element.children.flatMap((child) => child.all(wanted))],
    };
    if (inside !== undefined) inside.children.push(element);
    else if (root === null) root = element;
    else throw new Error("two roots");
    if (empty !== "/") open.push(element);
  }
  if (root === null || open.length > 0) throw new Error("not closed");
  return root;
}
