// The table of kinds: one line each.

import type { Panel } from "../format";
import { chart } from "./chart";
import { gantt } from "./gantt";
import { histogram } from "./histogram";
import type { Drawn, Scene } from "./panel";
import { scatter } from "./scatter";
import { shape } from "./shape";
import { spans } from "./spans";
import { tree } from "./tree";

type Make = { [P in Panel as P["kind"]]?: (scene: Scene<P>) => Drawn };

const KINDS: Make = { gantt, tree, chart, spans, scatter, histogram, shape };

// None for a kind that is no drawing (a table), or that this page does not know.
export function drawn<P extends Panel>(scene: Scene<P>): Drawn | null {
  const make = KINDS[scene.panel.kind] as ((scene: Scene<P>) => Drawn) | undefined;
  return make === undefined ? null : make(scene);
}
