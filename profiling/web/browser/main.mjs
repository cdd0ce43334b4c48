// Drives reports of real runs in headless Chromium: `node browser/main.mjs TREEQR [FOLDER]`.
//
// TREEQR is the command: it makes the runs. FOLDER, if given, keeps the reports and pictures of them. Fails on errors in the console,
// requests to anywhere, panels that are missing or blank, and on zoom, click, search, address and fall-back that do not work.

import { execFileSync } from "node:child_process";
import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { chromium } from "playwright-core";
import * as checks from "./checks.mjs";
import { colours } from "./pixels.mjs";
import { reportOf } from "./report.mjs";

const [command, kept] = process.argv.slice(2);
if (command === undefined) throw new Error("usage: node browser/main.mjs TREEQR [FOLDER]");
const temporary = kept === undefined;
const folder = temporary ? mkdtempSync(join(tmpdir(), "treeqr-browser-")) : resolve(kept);
mkdirSync(folder, { recursive: true });
const at = (name) => join(folder, name);
const treeqr = (...args) => execFileSync(resolve(command), args, { stdio: ["ignore", "ignore", "inherit"] });

// A run in tiles, one with a device, one with a single task, and two that are compared.
function reports() {
  writeFileSync(at("one.mtx"), "%%MatrixMarket matrix array real general\n2 1\n1\n2\n");
  const solve = (matrix, ...more) => treeqr("solve", matrix, "--force", ...more);
  solve("gallery:grid3d-12", "--threads=3", "--report", at("tiles.html"), "--nb=24", "--mb=24");
  solve("gallery:grid3d-10", "--threads=2", "--scheduler=dmdas", "--emulate-device=cuda0:speed=4,bandwidth=12GB/s", "--report", at("device.html"));
  solve(at("one.mtx"), "--threads=1", "--report", at("one-task.html"));
  solve("gallery:grid3d-10", "--threads=2", "--trace", at("a.trace"));
  solve("gallery:grid3d-10", "--threads=3", "--scheduler=eager", "--memory-limit=1.1x", "--trace", at("b.trace"));
  treeqr("report", at("a.trace"), at("b.trace"), "-o", at("compare.html"), "--force");
  return ["tiles", "device", "one-task", "compare"];
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
  ],
});
const faults = [];

// A page of its own for each check: nothing is left over from the one before.
async function checked(name, what, check, { hash = "", broken = false, html } = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const said = [];
  page.on("console", (message) => {
    // The driver's remark on pictures that are taken of a page.
    const remark = message.text().includes("GL Driver Message (OpenGL, Performance");
    if (["error", "warning"].includes(message.type()) && !remark) said.push(message.text());
  });
  page.on("pageerror", (error) => said.push(String(error)));
  page.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) said.push(`a request to ${request.url()}`);
  });
  const begin = performance.now();
  try {
    await page.goto(`file://${html ?? at(`${name}.html`)}${hash}`);
    await page.waitForSelector(broken ? "p.broken" : "html[data-ready]", { timeout: 30_000 });
    await check({ page, report: reportOf(readFileSync(at(`${name}.html`), "utf8")), colours: (png) => colours(browser, png) });
    if (!broken && said.length > 0) throw new Error(`the console says: ${said.join("; ")}`);
    console.log(`ok    ${name}: ${what} (${Math.round(performance.now() - begin)} ms)`);
  } catch (error) {
    faults.push(`${name}: ${what}`);
    console.error(`FAULT ${name}: ${what}\n      ${error.stack ?? error}`);
    await page.screenshot({ path: at(`fault-${faults.length}.png`) }).catch(() => undefined);
  }
  if (!temporary && what === "panels") await page.screenshot({ path: at(`${name}.png`), fullPage: true });
  await page.close();
}

try {
  for (const name of reports()) await checked(name, "panels", checks.panels);
  await checked("tiles", "panels without WebGL", checks.panels, { hash: "#o=page.painter:canvas" });
  await checked("device", "panels, dark", checks.dark, { hash: "#theme=dark" });
  await checked("tiles", "zoom and pan", checks.zoom);
  await checked("tiles", "a click on a task", checks.click);
  await checked("tiles", "search", checks.search);
  await checked("tiles", "the address", checks.address);
  await checked("device", "a click on a task", checks.click);
  await checked("compare", "search", checks.search);
  // One letter of the packed columns is another one, or the last ones are missing.
  const html = readFileSync(at("tiles.html"), "utf8");
  const data = html.indexOf('id="data-0">') + 12;
  const end = html.indexOf("</script>", data);
  const middle = (data + end) >> 1;
  const damages = {
    "a damaged block": html.slice(0, middle) + (html[middle] === "A" ? "B" : "A") + html.slice(middle + 1),
    "a short block": html.slice(0, middle) + html.slice(end),
    "another version": html.replace('{"version":1,', '{"version":999,'),
  };
  for (const [what, text] of Object.entries(damages)) {
    writeFileSync(at("damaged.html"), text);
    await checked("tiles", what, checks.refused, { broken: true, html: at("damaged.html") });
  }
} finally {
  await browser.close();
  if (temporary && faults.length === 0) rmSync(folder, { recursive: true });
}
if (faults.length > 0) {
  console.error(`${faults.length} faults; reports and pictures are in ${folder}`);
  process.exit(1);
}
