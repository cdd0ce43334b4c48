// From the report's panels to cards: comparison first, then each panel, that of A above that of B.

import type { Columns } from "../decode";
import { h, prose } from "../dom";
import type { Panel, Report } from "../format";
import { drawn } from "../panels/index";
import type { Run } from "../run";
import type { Selection } from "../state";
import { cardOf, type Card } from "./card";
import { NAMES } from "./head";
import { tableOf } from "./table";
import { viewOf, type Around, type View } from "./view";

export interface Data {
  report: Report;
  runs: Run[];
  comparison: Columns | null;
}

interface Entry {
  panel: Panel;
  run: Run;
  columns: Columns;
  name: string | null;
}

// Why a panel has nothing to draw; null where it has.
export const insteadOf = (panel: Panel): string | null => ("instead" in panel ? panel.instead ?? null : null);

export function cardsOf(data: Data, place: Around, choose: (selection: Selection) => void): Card[] {
  return grouped(data).map((entries) => {
    const panel = entries[0].panel;
    const views: View[] = [];
    const names: (string | null)[] = [];
    const extra: HTMLElement[] = [];
    entries.forEach((entry, k) => {
      const other = entries[1 - k];
      const instead = insteadOf(entry.panel);
      if (instead !== null) extra.push(h("p", { class: "instead" }, ...prose(entry.name === null ? instead : `${entry.name}: ${instead}`)));
      else if (entry.panel.kind === "table") {
        if (entry.name !== null) extra.push(h("p", { class: "caption" }, entry.name));
        extra.push(tableOf(entry.panel, (target) => choose("node" in target
          ? { kind: "node", run: entry.run.index, node: target.node } : { kind: "task", run: 0, id: target.tasks[0] })));
      } else {
        const peer = other === undefined || insteadOf(other.panel) !== null ? null : { panel: other.panel, columns: other.columns };
        const made = drawn({ panel: entry.panel, run: entry.run, columns: entry.columns, peer, span: place.span });
        if (made === null) return;
        views.push(viewOf(made, panel.title, entry.run.index, place));
        names.push(entry.name);
      }
    });
    return cardOf(panel, views, names, place, extra);
  });
}

function grouped({ report, runs, comparison }: Data): Entry[][] {
  const out = new Map<string, Entry[]>();
  if (report.comparison !== null && comparison !== null) {
    for (const panel of report.comparison.panels) out.set(`comparison ${panel.id}`, [{ panel, run: runs[0], columns: comparison, name: null }]);
  }
  for (const run of runs) {
    for (const panel of run.head.panels) {
      const entry = { panel, run, columns: run.columns, name: runs.length > 1 ? `${NAMES[run.index]}  ${run.head.name}` : null };
      const known = out.get(panel.id)?.filter((other) => other.panel.kind === panel.kind) ?? [];
      out.set(panel.id, [...known, entry]);
    }
  }
  return [...out.values()];
}
