// Reads the report out of its page and opens it. What cannot be read is said in one line, and nothing else is shown.

import { Broken, columnsOf, fromBase64, gunzip, type Columns } from "./decode";
import { h } from "./dom";
import { VERSION, type Column, type Report } from "./format";
import { open } from "./page/page";
import { runOf } from "./run";

function head(): Report {
  const element = document.getElementById("report");
  if (element === null) throw new Broken("this page has no report in it");
  let report: Report;
  try {
    report = JSON.parse(element.textContent ?? "") as Report;
  } catch {
    throw new Broken("the head of this report is damaged or cut off");
  }
  if (report.version !== VERSION) {
    throw new Broken(`this report has version ${String(report.version)} of the format, and this page reads version ${VERSION}`);
  }
  if (!Array.isArray(report.runs) || report.runs.length === 0) throw new Broken("this report has no run");
  return report;
}

async function block(k: number, described: Column[]): Promise<Columns> {
  const element = document.getElementById(`data-${k}`);
  if (element === null) throw new Broken(`this report has no data block ${k}`);
  const bytes = await gunzip(fromBase64(element.textContent ?? ""));
  // The text is tens of megabytes that nobody needs twice.
  element.remove();
  return columnsOf(bytes, described);
}

function refuse(reason: unknown): void {
  const text = reason instanceof Broken ? reason.message : `a fault of the page: ${String(reason)}`;
  document.body.replaceChildren(h("p", { class: "broken", role: "alert" }, `This report cannot be shown: ${text}.`));
  if (!(reason instanceof Broken)) console.error(reason);
}

async function main(): Promise<void> {
  const root = h("div", { class: "page" }, h("p", { class: "opening" }, "Opening the report …"));
  document.body.append(root);
  const report = head();
  const runs = [];
  for (const [k, run] of report.runs.entries()) runs.push(runOf(run, await block(k, run.columns), k));
  const comparison = report.comparison === null ? null : await block(2, report.comparison.columns);
  open(root, { report, runs, comparison });
  document.documentElement.dataset["ready"] = String(Math.round(performance.now()));
}

// Columns are decoded when they are needed: a fault may come late, and still is no half a page.
window.addEventListener("error", (event) => {
  if (event.error instanceof Broken) refuse(event.error);
});
main().catch(refuse);
