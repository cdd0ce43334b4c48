// The colours of a light and a dark page, as the canvas needs them; page.css has the same for the text around it.

import { colour, greyOnDark, isGrey, onDark, type Colour } from "./colour";

export interface Theme {
  dark: boolean;
  paper: Colour;
  plot: Colour;
  ink: Colour;
  muted: Colour;
  faint: Colour;
  line: Colour;
  grid: Colour;
  accent: Colour;
  alarm: Colour;
  good: Colour;
  // Load from nothing to all workers, and time from the begin to the end of the run.
  load: Colour[];
  time: Colour[];
  data(text: string): Colour;
}

const memo = (f: (text: string) => Colour): ((text: string) => Colour) => {
  const known = new Map<string, Colour>();
  return (text) => {
    let c = known.get(text);
    if (c === undefined) known.set(text, (c = f(text)));
    return c;
  };
};

export const LIGHT: Theme = {
  dark: false,
  paper: colour("#fcfbf8"),
  plot: colour("#ffffff"),
  ink: colour("#22211f"),
  muted: colour("#6b6862"),
  faint: colour("#a5a199"),
  line: colour("#d9d5cc"),
  grid: colour("#eeebe4"),
  accent: colour("#1f5fa8"),
  alarm: colour("#c8281e"),
  good: colour("#2f7d4f"),
  load: ["#f3eee1", "#f2cf7e", "#e58b3a", "#b8351f", "#6d1030"].map((c) => colour(c)),
  time: ["#2b4a8b", "#2a8a9d", "#6cb37c", "#d8c04a", "#d9722e"].map((c) => colour(c)),
  data: memo((text) => colour(text)),
};

export const DARK: Theme = {
  dark: true,
  paper: colour("#17181b"),
  plot: colour("#1d1f23"),
  ink: colour("#e9e6df"),
  muted: colour("#a09d96"),
  faint: colour("#6c6b68"),
  line: colour("#3b3d42"),
  grid: colour("#292b30"),
  accent: colour("#7fb2ee"),
  alarm: colour("#ff6a5a"),
  good: colour("#6cc48e"),
  load: ["#26282c", "#4f4530", "#9a6a2a", "#e28a3c", "#ffd98a"].map((c) => colour(c)),
  time: ["#5b82d6", "#3fb3c4", "#86cf94", "#ead261", "#f08b45"].map((c) => colour(c)),
  data: memo((text) => {
    const c = colour(text);
    return isGrey(c) ? greyOnDark(c) : onDark(c);
  }),
};
