// Runs of example reports, decoded as the page decodes them.

import { columnsOf, fromBase64, gunzip, type Columns } from "../src/decode";
import type { Report } from "../src/format";
import { runOf, type Run } from "../src/run";
import { example, type Wish } from "./example";

export interface Opened {
  report: Report;
  runs: Run[];
  comparison: Columns | null;
}

export async function opened(wish: Partial<Wish> = {}): Promise<Opened> {
  const { report, blocks } = example(wish);
  const runs: Run[] = [];
  for (const [k, head] of report.runs.entries()) runs.push(runOf(head, columnsOf(await gunzip(fromBase64(blocks[k] ?? "")), head.columns), k));
  const last = blocks[2];
  const comparison = report.comparison === null || last === undefined || last === null ? null : columnsOf(await gunzip(fromBase64(last)), report.comparison.columns);
  return { report, runs, comparison };
}
