// A table of the report: sortable by any column; rows lead to their tree node or task.

import { button, fill, h } from "../dom";
import type { TablePanel } from "../format";
import { count, quantity } from "../number";

const FIRST = 12;

export type Cell = string | number;

// Numbers by value, texts by their letters, empty cells last whatever the direction.
export function sorted(rows: Cell[][], by: number, down: boolean): number[] {
  const order = rows.map((_, k) => k);
  return order.sort((a, b) => {
    const [x, y] = [rows[a][by], rows[b][by]];
    if (x === "" || y === "") return (x === "" ? 1 : 0) - (y === "" ? 1 : 0) || a - b;
    const sign = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
    return (down ? -sign : sign) || a - b;
  });
}

export function text(cell: Cell, unit: string): string {
  if (typeof cell === "string") return cell;
  if (unit === "") return Number.isInteger(cell) ? count(cell) : cell.toPrecision(4);
  return quantity(cell, unit, unit === "B" || unit === "flop");
}

// What a row is about: a node, or a task in both runs.
export type RowTarget = { node: number } | { tasks: [number, number] };

function targetOf(panel: TablePanel, row: number): RowTarget | null {
  const tasks = panel.tasks?.[row];
  if (tasks !== undefined) return { tasks };
  const node = panel.nodes?.[row] ?? -1;
  return node >= 0 ? { node } : null;
}

export function tableOf(panel: TablePanel, choose: (target: RowTarget) => void): HTMLElement {
  let by: number | null = null;
  let down = true;
  let all = panel.rows.length <= FIRST + 4;
  const body = h("tbody");
  const more = button(`Show all ${panel.rows.length} rows`, () => {
    all = true;
    draw();
  }, { class: "more" });
  const heads = panel.columns.map((column, k) => {
    const sort = button(column.title, () => {
      down = by === k ? !down : true;
      by = k;
      draw();
    }, { class: "sort" });
    return h("th", { scope: "col", class: column.align }, sort);
  });
  const bars = panel.columns.map((column) => column.unit === "part");
  const draw = (): void => {
    const order = by === null ? panel.rows.map((_, k) => k) : sorted(panel.rows, by, down);
    heads.forEach((head, k) => head.setAttribute("aria-sort", k !== by ? "none" : down ? "descending" : "ascending"));
    fill(body, ...order.slice(0, all ? order.length : FIRST).map((row) => h("tr", {}, ...panel.rows[row].map((cell, k) => {
      const column = panel.columns[k];
      const said = text(cell, column?.unit ?? "");
      const target = k === 0 ? targetOf(panel, row) : null;
      const link = target === null ? said : button(said, () => choose(target), { class: "link" });
      const bar = bars[k] === true && typeof cell === "number" ? `--part:${(100 * Math.min(Math.max(cell, 0), 1)).toFixed(1)}%` : null;
      return h("td", { class: `${column?.align ?? "left"}${bar === null ? "" : " part"}`, style: bar }, link);
    }))));
    more.hidden = all;
  };
  draw();
  return h("div", { class: "table" }, h("table", {}, h("thead", {}, h("tr", {}, ...heads)), body), more);
}
