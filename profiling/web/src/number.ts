// Numbers as people read them: times, bytes, counts. Takes numbers with their unit, gives text; knows no locale.

const THIN = "\u202f";

function trimmed(value: number, digits: number): string {
  const text = value.toPrecision(digits);
  const plain = text.includes("e") ? String(Number(text)) : text;
  return plain.includes(".") ? plain.replace(/\.?0+$/, "") : plain;
}

function prefixed(value: number, digits: number, base: number, names: string[], unit: string): string {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return unit === "" ? "0" : `0${THIN}${unit}`;
  let magnitude = Math.abs(value);
  let k = 0;
  while (k + 1 < names.length && magnitude >= base * (1 - 0.5 * 10 ** -digits)) {
    magnitude /= base;
    k += 1;
  }
  const sign = value < 0 ? "−" : "";
  const name = names[k] + unit;
  return sign + trimmed(magnitude, digits) + (name === "" ? "" : THIN + name);
}

export interface TimeUnit {
  name: string;
  ns: number;
}

export const TIME_UNITS: readonly TimeUnit[] = [
  { name: "ns", ns: 1 },
  { name: "µs", ns: 1e3 },
  { name: "ms", ns: 1e6 },
  { name: "s", ns: 1e9 },
];

export function timeUnit(ns: number): TimeUnit {
  const fitting = TIME_UNITS.filter((unit) => Math.abs(ns) >= unit.ns * 0.9995);
  return fitting[fitting.length - 1] ?? TIME_UNITS[0];
}

export function duration(ns: number, digits = 4): string {
  if (!Number.isFinite(ns)) return "–";
  const unit = timeUnit(ns);
  return `${ns < 0 ? "−" : ""}${trimmed(Math.abs(ns) / unit.ns, digits)}${THIN}${unit.name}`;
}

// A point on the time axis, to the nanosecond where the window is that small.
export function moment(ns: number, window_ns: number): string {
  const unit = timeUnit(Math.max(Math.abs(ns), 1));
  const digits = Math.max(0, Math.ceil(Math.log10(unit.ns / Math.max(window_ns / 1e3, 1))));
  return `${(ns / unit.ns).toFixed(Math.min(digits, 9))}${THIN}${unit.name}`;
}

export const count = (value: number): string =>
  Math.abs(value) < 1e15 ? Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, THIN) : value.toPrecision(4);

export const si = (value: number, unit = "", digits = 4): string =>
  Math.abs(value) < 1 && value !== 0
    ? `${value < 0 ? "−" : ""}${trimmed(Math.abs(value), Math.min(digits, 3))}${unit === "" ? "" : THIN + unit}`
    : prefixed(value, digits, 1000, ["", "k", "M", "G", "T", "P"], unit);

export const percent = (fraction: number): string =>
  `${(fraction * 100).toFixed(fraction > 0 && fraction < 0.0995 ? 1 : 0)}${THIN}%`;

// A value by its unit: with a prefix, or as a count of something.
export function quantity(value: number, unit: string, takesPrefix: boolean, digits = 4): string {
  if (unit === "ns") return duration(value, digits);
  if (unit === "part") return percent(value);
  if (takesPrefix) return si(value, unit, digits);
  const text = Math.abs(value) >= 1e5 ? count(value) : trimmed(Math.abs(value), digits);
  return `${value < 0 && Math.abs(value) < 1e5 ? "−" : ""}${text}${unit === "" ? "" : ` ${unit}`}`;
}
