// A picture of a front cut into tiles, with the tiles that a task works on.

import { withAlpha } from "../colour";
import type { Painter } from "../paint/painter";
import type { Run } from "../run";
import type { Theme } from "../theme";
import { picture } from "./surface";

const SIDE = 118;

// None for a task without a tile, or a front that is not cut.
export function tilePicture(run: Run, row: number, theme: Theme): HTMLElement | null {
  const [i, j] = ["row", "col"].map((name) => run.value(`tasks.${name}`, row));
  const position = run.tree.position(run.tasks.node[row]);
  if (position === null || i + j === 0) return null;
  const rows = Math.max(run.value("nodes.tile_rows", position), i);
  const cols = Math.max(run.value("nodes.tile_cols", position), j, 1);
  if (rows < 1) return null;
  const each = Math.min(SIDE / rows, SIDE / cols, 18);
  const [width, height] = [Math.max(each * cols, 4) + 2, Math.max(each * rows, 4) + 2];
  const draw = (p: Painter): void => {
    const gap = each > 5 ? 1 : 0;
    const tile = (r: number, c: number, colour: number): void => p.rect(1 + c * each, 1 + r * each, Math.max(each - gap, 1), Math.max(each - gap, 1), colour);
    // Its row and column, so that one tile of very many is found.
    const cross = withAlpha(theme.accent, 0.2);
    if (each >= 1.5) {
      for (let r = 0; r < rows; r += 1) for (let c = 0; c < cols; c += 1) tile(r, c, theme.plot);
    } else p.rect(1, 1, width - 2, height - 2, theme.plot);
    if (i > 0) p.rect(1, 1 + (i - 1) * each, width - 2, each - gap, cross);
    if (j > 0) p.rect(1 + (j - 1) * each, 1, each - gap, height - 2, cross);
    if (i > 0 && j > 0) tile(i - 1, j - 1, theme.alarm);
  };
  const canvas = picture(width, height, Math.max(window.devicePixelRatio, 1), theme.line, draw);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `tile row ${i}, column ${j} of ${rows} × ${cols}`);
  return canvas;
}
