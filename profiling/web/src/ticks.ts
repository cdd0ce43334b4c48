// Where an axis has its marks. Takes an interval and how many marks there is room for; gives values, and labels for times.

import { TIME_UNITS, timeUnit } from "./number";

// The step from 1, 2, 5 times a power of ten that gives at most `most` marks.
export function niceStep(width: number, most: number): number {
  const least = width / Math.max(1, most);
  if (!(least > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(least));
  const factor = [1, 2, 5, 10].find((f) => f * power >= least * (1 - 1e-9)) ?? 10;
  return factor * power;
}

export function ticks(from: number, to: number, most: number): { values: number[]; step: number } {
  const step = niceStep(to - from, most);
  const first = Math.ceil(from / step - 1e-9);
  const last = Math.floor(to / step + 1e-9);
  const values: number[] = [];
  // Products, not sums: errors do not add up.
  for (let k = first; k <= last && values.length <= 4 * most + 4; k += 1) values.push(k * step || 0);
  return { values, step };
}

export interface TimeAxis {
  ticks: { at: number; label: string }[];
  minor: number[];
  // What labels are relative to, in a deep zoom; empty otherwise.
  base: string;
}

// Marks of a window of time. Labels that would need more than six digits are told from a base that is shown once.
export function timeAxis(from: number, to: number, most: number): TimeAxis {
  const { values, step } = ticks(from, to, most);
  const digitsNeeded = Math.log10(Math.max(Math.abs(to), 1) / step);
  let base_ns = 0;
  let base = "";
  if (digitsNeeded > 5) {
    const coarse = 10 ** Math.ceil(Math.log10(to - from) + 0.3);
    base_ns = Math.floor(from / coarse) * coarse;
    base = base_ns > 0 ? exact(base_ns) : "";
  }
  const largest = Math.max(Math.abs(to - base_ns), step);
  const unit = timeUnit(largest);
  const decimals = Math.max(0, Math.ceil(Math.log10(unit.ns / step) - 1e-9));
  const sign = base === "" ? "" : "+";
  const label = (at: number): string =>
    at === base_ns && base === "" ? "0" : `${sign}${((at - base_ns) / unit.ns).toFixed(decimals)}\u202f${unit.name}`;
  const leading = Math.round(step / 10 ** Math.floor(Math.log10(step) + 1e-9));
  const parts = leading === 2 ? 4 : 5;
  const minor = finer(from, to, step / parts);
  return { ticks: values.map((at) => ({ at, label: label(at) })), minor, base };
}

function finer(from: number, to: number, step: number): number[] {
  const out: number[] = [];
  for (let k = Math.ceil(from / step); k * step <= to && out.length < 500; k += 1) out.push(k * step);
  return out;
}

function exact(ns: number): string {
  const unit = TIME_UNITS.filter((u) => ns >= u.ns).pop() ?? TIME_UNITS[0];
  const text = (ns / unit.ns).toFixed(Math.round(Math.log10(unit.ns)));
  return `${text.includes(".") ? text.replace(/\.?0+$/, "") : text}\u202f${unit.name}`;
}

// Powers of ten between two natural logarithms, with 2 and 5 between them where there are few.
export function logTicks(lo_ln: number, hi_ln: number, most: number): { at_ln: number; value: number; major: boolean }[] {
  const lo = lo_ln / Math.LN10;
  const hi = hi_ln / Math.LN10;
  const every = Math.max(1, Math.ceil((hi - lo) / Math.max(1, most)));
  const between = hi - lo < most / 3;
  const out: { at_ln: number; value: number; major: boolean }[] = [];
  for (let power = Math.floor(lo); power <= hi + 1e-9; power += 1) {
    if (power % every !== 0 && !between) continue;
    for (const factor of between ? [1, 2, 5] : [1]) {
      const at_ln = Math.log(factor) + power * Math.LN10;
      if (at_ln >= lo_ln - 1e-9 && at_ln <= hi_ln + 1e-9) out.push({ at_ln, value: factor * 10 ** power, major: factor === 1 });
    }
  }
  return out;
}
