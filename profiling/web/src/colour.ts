// Colours as numbers 0xRRGGBBAA: read, mixed, made readable on a dark page, written for CSS.

export type Colour = number;

export function colour(text: string, alpha = 1): Colour {
  const rgb = /^#[0-9a-f]{6}$/i.test(text) ? parseInt(text.slice(1), 16) : 0x888888;
  return ((rgb * 256) + Math.round(alpha * 255)) >>> 0;
}

export const channels = (c: Colour): [number, number, number, number] => [
  c >>> 24, (c >>> 16) & 255, (c >>> 8) & 255, c & 255,
];

export const rgba = (r: number, g: number, b: number, a: number): Colour =>
  (((Math.round(r) << 24) | (Math.round(g) << 16) | (Math.round(b) << 8) | Math.round(a)) >>> 0);

export const withAlpha = (c: Colour, alpha: number): Colour => ((c & 0xffffff00) | Math.round(alpha * 255)) >>> 0;

export function mix(a: Colour, b: Colour, part: number): Colour {
  const [ar, ag, ab, aa] = channels(a);
  const [br, bg, bb, ba] = channels(b);
  const between = (x: number, y: number): number => x + (y - x) * part;
  return rgba(between(ar, br), between(ag, bg), between(ab, bb), between(aa, ba));
}

const texts = new Map<Colour, string>();

export function css(c: Colour): string {
  let text = texts.get(c);
  if (text === undefined) {
    const [r, g, b, a] = channels(c);
    text = a === 255 ? `rgb(${r},${g},${b})` : `rgba(${r},${g},${b},${(a / 255).toFixed(3)})`;
    if (texts.size > 5000) texts.clear();
    texts.set(c, text);
  }
  return text;
}

// Relative luminance, as WCAG 2 has it.
export function luminance(c: Colour): number {
  const linear = (v: number): number => (v <= 10 ? v / 3294.6 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  const [r, g, b] = channels(c);
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

// A grey for a dark page: what was near the paper's white is near the dark now.
export function greyOnDark(c: Colour): Colour {
  const grey = 42 + (255 - (c >>> 24)) * 0.6;
  return rgba(grey, grey, grey + 2, c & 255);
}

export function isGrey(c: Colour): boolean {
  const [r, g, b] = channels(c);
  return Math.max(r, g, b) - Math.min(r, g, b) < 16;
}

// A colour that was chosen for white paper, as light as a dark page needs it; its hue stays.
export function onDark(c: Colour): Colour {
  let out = c;
  for (let k = 0; k < 12 && luminance(out) < 0.16; k += 1) out = withAlpha(mix(out, 0xffffffff, 0.12), (c & 255) / 255);
  return out;
}

// Steps between colours, at 0..1.
export function ramp(stops: Colour[], at: number): Colour {
  const place = Math.min(Math.max(at, 0), 1) * (stops.length - 1);
  const k = Math.min(Math.floor(place), stops.length - 2);
  return mix(stops[k], stops[k + 1], place - k);
}
