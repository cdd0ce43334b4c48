// Opens a report in headless Chromium and says how fast it opens and moves: `node frames.mjs FILE.html [out.json]`.
//
// A hand drags in the Gantt chart, one pointer event a screen refresh; told are the times between refreshes (their median and the
// 95th percentile) and the time that the page itself computed for one, for several zooms and both painters. The browser draws by
// software (SwiftShader); a screen has 60 refreshes a second, so more than 60 is never told.
import { chromium } from "playwright-core";
import { statSync } from "node:fs";

const [file, width = "1600", height = "1000"] = process.argv.slice(2);
if (file === undefined) throw new Error("usage: node frames.mjs FILE.html [width] [height]");
const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: flags });
const page = await browser.newPage({ viewport: { width: Number(width), height: Number(height) } });
console.log(`${file}: ${(statSync(file).size / 1e6).toFixed(1)} MB, ${width} x ${height}`);

async function open(hash) {
  await page.goto("about:blank");
  await page.goto(`file://${file}${hash}`);
  await page.waitForFunction(() => document.documentElement.dataset.ready !== undefined, null, { timeout: 120_000 });
  return page.evaluate(() => Number(document.documentElement.dataset.ready));
}

console.log(`open: ${await open("")} ms from navigation to the first picture`);
const span = await page.evaluate(() => JSON.parse(document.getElementById("report").textContent).runs[0].span_ns);
for (const painter of ["canvas", "webgl"]) {
  for (const part of [1, 10, 100, 1000]) {
    const window = part === 1 ? `${0.02 * span},${0.98 * span}` : `${span * 0.4},${span * (0.4 + 1 / part)}`;
    await open(`#t=${window}&o=page.painter:${painter}`);
    const { gaps, own } = await page.evaluate(async () => {
      document.querySelector("#panel-gantt").scrollIntoView();
      const canvas = document.querySelector("#panel-gantt canvas");
      const { left, top, width: wide } = canvas.getBoundingClientRect();
      const at = (type, x) => canvas.dispatchEvent(new PointerEvent(type, { pointerId: 1, button: 0, clientX: left + x, clientY: top + 60, bubbles: true }));
      canvas.setPointerCapture = () => undefined;
      const refresh = () => new Promise((done) => requestAnimationFrame(done));
      for (let k = 0; k < 5; k += 1) await refresh();
      at("pointerdown", wide / 2);
      const gaps = [];
      const own = [];
      let before = await refresh();
      for (let k = 0; k < 120; k += 1) {
        at("pointermove", wide / 2 + 150 * Math.sin(k / 12));
        // Callbacks run in the order of asking: the page's picture comes before this one's end.
        const begin = performance.now();
        const now = await refresh();
        own.push(performance.now() - Math.max(now, begin));
        gaps.push(now - before);
        before = now;
      }
      at("pointerup", wide / 2);
      return { gaps, own };
    });
    const sorted = (list) => [...list].sort((a, b) => a - b);
    const quantile = (list, q) => sorted(list)[Math.floor(q * (list.length - 1))];
    const median = quantile(gaps, 0.5);
    console.log(`${painter === "webgl" ? "WebGL2" : "pixels"} 1/${part} of the run in view: ${(1000 / median).toFixed(0)} frames/s (median ${median.toFixed(1)} ms, 95 % below ${quantile(gaps, 0.95).toFixed(1)} ms; page's own ${quantile(own, 0.5).toFixed(1)} ms)`);
  }
}
await browser.close();
