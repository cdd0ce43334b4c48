// What must hold of a report that is open in a browser. Each takes the page, what the file says, and a reader of pixels.

import assert from "node:assert/strict";

const gantt = (page) => page.locator("#panel-gantt canvas").first();
const frame = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

// The picture of an element that is on the screen.
async function picture(page, locator) {
  await locator.scrollIntoViewIfNeeded();
  await frame(page);
  return locator.screenshot();
}

function windowOf(page) {
  return page.evaluate(() => /[#&]t=([\d.]+),([\d.]+)/.exec(location.hash)?.slice(1).map(Number) ?? null);
}

// Movements reach the address with a delay, which this is longer than.
const SETTLED_MS = 600;

async function moved(page, before) {
  await page.waitForFunction((hash) => location.hash !== hash, before, { timeout: 5000 });
  // What the page has been told may arrive in several steps.
  for (let last = null, now = await hash(page); now !== last; ) {
    await page.waitForTimeout(SETTLED_MS);
    [last, now] = [now, await hash(page)];
  }
  return windowOf(page);
}

const hash = (page) => page.evaluate(() => location.hash);

// Which part of a picture has a colour at least; a few dots have hardly any.
function leastColour(panel, head) {
  if (panel.kind !== "scatter") return 0.0005;
  const columns = head.runs.flatMap((run) => run.columns);
  const points = columns.find((column) => column.name === panel.points.task).length;
  return Math.min(0.0005, 1e-6 * points);
}

export async function panels({ page, report, colours }) {
  const { head } = report;
  const text = await page.locator("body").innerText();
  for (const fact of head.runs.flatMap((run) => run.headline)) {
    assert.ok(text.toLowerCase().includes(fact.label.toLowerCase()), `no ${fact.label} in the headline`);
  }
  for (const hint of head.runs.flatMap((run) => run.hints)) assert.ok(text.includes(hint.title), `no hint ${hint.title}`);
  const all = new Map(head.runs.concat(head.comparison ?? []).flatMap((part) => part.panels).map((panel) => [panel.id, panel]));
  for (const [id, panel] of all) {
    const section = page.locator(`[id="panel-${id}"]`);
    assert.equal(await section.count(), 1, `panel ${id}`);
    if (panel.instead) {
      // Words between backticks are code there.
      const why = panel.instead.replaceAll("`", "");
      assert.ok((await section.innerText()).includes(why), `${id} does not say why it is empty`);
    } else if (panel.kind === "table") {
      assert.ok((await section.locator("tbody tr").count()) >= Math.min(panel.rows.length, 10), `${id} has too few rows`);
    } else {
      const canvases = section.locator("canvas");
      assert.ok((await canvases.count()) > 0, `${id} has no picture`);
      for (let k = 0; k < (await canvases.count()); k += 1) {
        const { coloured } = await colours(await picture(page, canvases.nth(k)));
        assert.ok(coloured > leastColour(panel, head), `${id} is blank: ${(100 * coloured).toFixed(3)} % of it has a colour`);
      }
    }
  }
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, `the page is ${wide} pixels wider than the window`);
}

export async function dark(all) {
  const { page, colours } = all;
  await panels(all);
  const { common } = await colours(await page.screenshot());
  assert.ok(Math.max(...common) < 100, `the page is not dark: ${common}`);
}

export async function zoom({ page, report }) {
  const span = report.head.runs[0].span_ns;
  const canvas = gantt(page);
  const whole = await picture(page, canvas);
  const { x, y, width, height } = await canvas.boundingBox();
  const [cx, cy] = [x + width / 2, y + height / 2];
  await page.mouse.move(cx, cy);
  await page.keyboard.down("Control");
  for (let k = 0; k < 5; k += 1) await page.mouse.wheel(0, -200);
  await page.keyboard.up("Control");
  const zoomed = await moved(page, "");
  assert.ok(zoomed !== null && zoomed[1] - zoomed[0] < 0.7 * span, `the wheel does not zoom: ${zoomed}`);
  assert.ok(!whole.equals(await picture(page, canvas)), "zoomed, and the same picture");

  let before = await hash(page);
  await page.mouse.move(cx, cy);
  await page.mouse.down();
  await page.mouse.move(cx - 40, cy, { steps: 4 });
  await page.mouse.move(cx - 80, cy, { steps: 4 });
  await page.mouse.up();
  const panned = await moved(page, before);
  assert.ok(panned[0] > zoomed[0], `dragged to the left, and the time is ${panned}, not after ${zoomed}`);
  assert.ok(Math.abs(panned[1] - panned[0] - (zoomed[1] - zoomed[0])) < 0.01 * span, "dragging zooms");

  before = await hash(page);
  await page.keyboard.press("+");
  const closer = await moved(page, before);
  assert.ok(closer[1] - closer[0] < panned[1] - panned[0], "the key + does not zoom");
  before = await hash(page);
  await page.keyboard.press("d");
  assert.ok((await moved(page, before))[0] > closer[0], "the key d does not go on");
  before = await hash(page);
  await page.keyboard.press("0");
  assert.equal(await moved(page, before), null, "the key 0 does not show the whole run");
}

// The longest task of every lane, zoomed to so that it fills the chart: a click somewhere above its lane's middle finds it.
export async function click({ page, report }) {
  const [tasks] = report.runs;
  const lanes = report.head.runs[0].workers.length;
  let clicked = 0;
  for (let lane = 0; lane < lanes; lane += 1) {
    const mine = tasks.filter((task) => task.lane === lane).sort((a, b) => b.duration - a.duration);
    if (mine.length === 0) continue;
    const { id, start, duration } = mine[0];
    const inside = [start + 0.3 * duration, start + 0.7 * duration].map((time) => time.toFixed(1));
    await page.evaluate((hash) => {
      location.hash = hash;
      dispatchEvent(new PopStateEvent("popstate"));
    }, `#t=${inside}`);
    await frame(page);
    const canvas = gantt(page);
    await canvas.scrollIntoViewIfNeeded();
    const { x, y, width, height } = await canvas.boundingBox();
    const found = new Set();
    for (let part = 0.5; part < 2 * lanes + 2; part += 1) {
      const at = y + (part * height) / (2 * lanes + 2);
      await page.mouse.click(x + width / 2, at);
      await frame(page);
      const chosen = /task=0\.(\d+)/.exec(await hash(page));
      if (chosen !== null) found.add(Number(chosen[1]));
      if (found.has(id)) break;
      await page.keyboard.press("Escape");
    }
    assert.ok(found.has(id), `no click on lane ${lane} finds task ${id}; found: ${[...found]}`);
    const details = await page.locator("aside.details").innerText();
    assert.ok(details.includes(mine[0].codelet) && details.replace(/\s/g, "").includes(String(id)), `details say: ${details}`);
    clicked += 1;
  }
  assert.ok(clicked > 0);
}

export async function search({ page, report }) {
  const tasks = report.runs[0];
  const task = tasks[tasks.length >> 1];
  const input = page.locator("input[type=search]");
  await input.fill(`task ${task.id}`);
  await input.press("Enter");
  await page.waitForFunction((id) => location.hash.includes(`task=0.${id}`), task.id, { timeout: 5000 });
  assert.ok((await page.locator("aside.details").innerText()).includes(task.codelet));
  // Without a window in the address the whole run is in view.
  const [from, to] = (await windowOf(page)) ?? [0, report.head.runs[0].span_ns];
  assert.ok(from <= task.start && task.start + task.duration <= to, `the task is outside of ${from}, ${to}`);

  const node = report.head.runs[0].panels.find((panel) => panel.id === "by-node").nodes[0];
  await input.fill(`node ${node}`);
  await input.press("Enter");
  await page.waitForFunction((node) => location.hash.includes(`node=0.${node}`), node, { timeout: 5000 });
  await input.fill("nothing like this");
  await input.press("Enter");
  await frame(page);
  assert.ok((await hash(page)).includes(`node=0.${node}`), "what is not found changes nothing");
  await input.press("Escape");
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => !location.hash.includes("node="), undefined, { timeout: 5000 });
}

// What the address says is what is shown, after a reload too; going back undoes a choice.
export async function address({ page, report }) {
  const span = report.head.runs[0].span_ns;
  const task = report.runs[0][3];
  const url = page.url();
  const wanted = `#t=${Math.round(0.25 * span)},${Math.round(0.5 * span)}&task=0.${task.id}&theme=dark`;
  await page.goto("about:blank");
  await page.goto(url + wanted);
  await page.waitForSelector("html[data-ready]");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  assert.ok((await page.locator("aside.details").innerText()).includes(task.codelet));
  const there = await picture(page, gantt(page));
  await page.reload();
  await page.waitForSelector("html[data-ready]");
  assert.ok(there.equals(await picture(page, gantt(page))), "another picture after a reload");
  const input = page.locator("input[type=search]");
  const other = report.runs[0][4];
  await input.fill(`task ${other.id}`);
  await input.press("Enter");
  await page.waitForFunction((id) => location.hash.includes(`task=0.${id}`), other.id, { timeout: 5000 });
  await page.goBack();
  await page.waitForFunction((id) => location.hash.includes(`task=0.${id}`), task.id, { timeout: 5000 });
}

// One clear line, and nothing else.
export async function refused({ page }) {
  const text = await page.locator("body").innerText();
  assert.match(text, /cannot be shown/);
  assert.ok(text.length < 400, text);
  assert.equal(await page.locator("canvas").count(), 0);
}
