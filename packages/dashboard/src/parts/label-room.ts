// Which labels have room on a track. Every label that is placed by a share of a width goes through here: the run's axis, the axis of a
// comparison, the times under the charts. A share alone says where a label begins, and never where it ends.

export interface Label {
  /** The label's place on the track, 0 to 1. */
  readonly at: number;
  readonly text: string;
}

/** A stretch of the track, in pixels from its left end. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

export interface LabelTrack {
  readonly trackPx: number;
  /** Where `at` is on the label. */
  readonly anchor: "start" | "middle";
  /** Room on the left of the text, such as a padding. */
  readonly padPx?: number;
  /** How far a label may reach over either end: a canvas is wider than its plot. */
  readonly overPx?: number;
  /** Stretches that no label may reach into. */
  readonly taken?: readonly Stretch[];
}

// Labels this close to each other are read as one.
const gapPx = 4;
// The size of `--axis` in tokens.css.
const fontPx = 11;

// Widths in em, a little over those of DejaVu Sans, the widest of the fonts that `--sans` is on common systems.
const narrow = 0.37;
const usual = 0.65;
const capital = 0.85;
const wide = 1;

const emOf = (character: string): number => {
  if (/[ .,:;'|ijl]/.test(character)) return narrow;
  if (/[a-ln-vxyz0-9-]/.test(character)) return usual;
  return /[A-LN-VXYZ]/.test(character) ? capital : wide;
};

/** The most a text takes on an axis, in pixels. */
export const labelPx = (text: string): number => [...text].reduce((sum, each) => sum + emOf(each), 0) * fontPx;

/** Where on the track a label is drawn. */
export function stretchOf({ at, text }: Label, { trackPx, anchor, padPx = 0 }: LabelTrack): Stretch {
  const width = padPx + labelPx(text);
  const from = at * trackPx - (anchor === "middle" ? width / 2 : 0);
  return { from, to: from + width };
}

/** The same label, moved to where its text ends inside the track. */
export function keptInside<Of extends Label>(label: Of, track: LabelTrack): Of {
  const overPx = stretchOf(label, track).to - track.trackPx;
  return overPx <= 0 ? label : { ...label, at: Math.max(0, label.at - overPx / track.trackPx) };
}

const overlaps = (a: Stretch, b: Stretch, gap: number): boolean => a.from < b.to + gap && b.from < a.to + gap;

/** The labels that have room, the first one first: none reaches over an end, over another or into a taken stretch. */
export function labelsWithRoom<Of extends Label>(labels: readonly Of[], track: LabelTrack): Of[] {
  const { trackPx, overPx = 0, taken = [] } = track;
  const drawn: Stretch[] = [];
  return labels.filter((label) => {
    const stretch = stretchOf(label, track);
    if (stretch.from < -overPx || stretch.to > trackPx + overPx) return false;
    if (taken.some((each) => overlaps(stretch, each, 0))) return false;
    if (drawn.some((each) => overlaps(stretch, each, gapPx))) return false;
    drawn.push(stretch);
    return true;
  });
}
