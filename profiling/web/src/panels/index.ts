// The table of kinds: one line each.

import type { Panel } from "../format";
import { gantt } from "./gantt";
import type { Drawn, Scene } from "./panel";

type Make = { [P in Panel as P["kind"]]?: (scene: Scene<P>) => Drawn };

const KINDS: Make = {
  gantt,
};

// None for a kind that is no drawing (a table), or that this page does not know.
export function drawn<P extends Panel>(scene: Scene<P>): Drawn | null {
  const make = KINDS[scene.panel.kind] as ((scene: Scene<P>) => Drawn) | undefined;
  return make === undefined ? null : make(scene);
}
