// The state of the page as the part of its address after `#`, and back. Text in, state out; whatever is not understood is left
// out, so that an old or a mistyped address still opens the report.

import type { Selection, State, ThemeChoice } from "./state";
import { clamped } from "./view";

export function written(state: State, span: number): string {
  const parts: string[] = [];
  const { from, to } = state.window;
  if (from > 0 || to < span) parts.push(`t=${plain(from)},${plain(to)}`);
  const chosen = state.selection;
  if (chosen?.kind === "task") parts.push(`task=${chosen.run}.${chosen.id}`);
  if (chosen?.kind === "node") parts.push(`node=${chosen.run}.${chosen.node}`);
  if (state.codelet !== null) parts.push(`codelet=${encodeURIComponent(state.codelet)}`);
  if (!state.pale) parts.push("pale=0");
  if (state.theme !== "auto") parts.push(`theme=${state.theme}`);
  if (state.folded.length > 0) parts.push(`fold=${state.folded.map(encodeURIComponent).join(",")}`);
  const options = Object.entries(state.options).map(([key, value]) => `${encodeURIComponent(key)}:${encodeURIComponent(value)}`);
  if (options.length > 0) parts.push(`o=${options.sort().join(",")}`);
  return parts.join("&");
}

const plain = (ns: number): string => ns.toFixed(1).replace(/\.0$/, "");

export function read(hash: string, span: number): State {
  const given = new Map<string, string>();
  for (const part of hash.replace(/^#/, "").split("&")) {
    const at = part.indexOf("=");
    if (at > 0) given.set(part.slice(0, at), part.slice(at + 1));
  }
  const raw = (key: string): string[] => (given.get(key) ?? "").split(",").filter((item) => item !== "");
  const list = (key: string): string[] => raw(key).map(decoded);
  const [from, to] = list("t").map(Number);
  const window = from < to ? clamped({ from, to }, span) : { from: 0, to: Math.max(span, 1) };
  const theme = given.get("theme");
  const options: Record<string, string> = {};
  for (const item of raw("o")) {
    const at = item.indexOf(":");
    if (at > 0) options[decoded(item.slice(0, at))] = decoded(item.slice(at + 1));
  }
  return {
    window,
    selection: selection(given),
    codelet: given.has("codelet") ? decoded(given.get("codelet") ?? "") : null,
    pale: given.get("pale") !== "0",
    theme: theme === "light" || theme === "dark" ? (theme satisfies ThemeChoice) : "auto",
    folded: list("fold"),
    options,
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function selection(given: Map<string, string>): Selection | null {
  for (const kind of ["task", "node"] as const) {
    const match = /^(\d+)\.(\d+)$/.exec(given.get(kind) ?? "");
    if (match === null) continue;
    const [run, number] = [Number(match[1]), Number(match[2])];
    return kind === "task" ? { kind, run, id: number } : { kind, run, node: number };
  }
  return null;
}
