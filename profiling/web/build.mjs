// Builds ../src/report/page.js and page.css from src/. With --check it writes nothing and fails where they differ.
import { build } from "esbuild";
import { readFile, writeFile } from "node:fs/promises";

const MOST_BYTES = 150_000;
const target = new URL("../src/report/", import.meta.url);

const built = await build({
  entryPoints: { page: "src/main.ts", style: "src/page.css" },
  absWorkingDir: new URL(".", import.meta.url).pathname,
  outdir: "out",
  bundle: true,
  minify: true,
  write: false,
  charset: "utf8",
  format: "iife",
  target: ["es2022"],
  legalComments: "none",
});

let wrong = 0;
for (const file of built.outputFiles) {
  const name = file.path.endsWith(".css") ? "page.css" : "page.js";
  // The script stands inside an HTML file: nothing in it may end its element.
  const text = file.text.replaceAll("</script", "<\\/script");
  if (Buffer.byteLength(text) > MOST_BYTES) {
    console.error(`${name}: ${Buffer.byteLength(text)} bytes, at most ${MOST_BYTES}`);
    wrong += 1;
  }
  const path = new URL(name, target);
  if (process.argv.includes("--check")) {
    const committed = await readFile(path, "utf8").catch(() => "");
    if (committed !== text) {
      console.error(`${name} is not what the sources give: run \`npm run build\` in profiling/web`);
      wrong += 1;
    }
  } else {
    await writeFile(path, text);
    console.log(`${name}: ${Buffer.byteLength(text)} bytes`);
  }
}
process.exit(wrong === 0 ? 0 : 1);
