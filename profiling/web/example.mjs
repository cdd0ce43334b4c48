// Writes a report of a made-up run: `node example.mjs OUT.html [tasks] [workers] [runs] [seed]`. Uses the built page.
import { build } from "esbuild";
import { readFile, writeFile } from "node:fs/promises";

const [out = "example.html", tasks = "6000", workers = "8", runs = "1", seed = "7"] = process.argv.slice(2);
const built = await build({
  stdin: { contents: 'export { example } from "./test/example"; export { html } from "./test/encode";', resolveDir: new URL(".", import.meta.url).pathname },
  bundle: true, write: false, format: "esm", platform: "node",
});
const made = await import(`data:text/javascript;base64,${Buffer.from(built.outputFiles[0].text).toString("base64")}`);
const { report, blocks } = made.example({ tasks: Number(tasks), workers: Number(workers), runs: Number(runs), seed: Number(seed) });
const [script, style] = await Promise.all(["page.js", "page.css"].map((name) => readFile(new URL(`../src/report/${name}`, import.meta.url), "utf8")));
// The comparison's block is number 2, whatever comes before.
await writeFile(out, made.html(report, blocks, script, style));
console.log(`${out}: ${report.runs[0].columns[1].length} tasks`);
