// Findings of one function so far: one for each verdict about one effect. Pure but for what it keeps.
import type { Judged } from "./judge.ts";
import type { Finding, Kind } from "./report.ts";
import type { SeenEffect, WorldRecord } from "./thing.ts";

export type SeenIn = Pick<WorldRecord, "schedule" | "seed" | "timeline">;

/** A verdict that is not HELD. */
type Wrong = Omit<Judged, "verdict"> & { readonly verdict: Kind };

export class Findings {
  readonly all: Finding[] = [];
  private readonly effects = new Map<Finding, SeenEffect | null>();

  constructor(
    private readonly options: {
      readonly event: Finding["event"];
      readonly accepts: (effect: string) => string | null;
    },
  ) {}

  /** Nothing where it is known: the first that showed it has the smallest schedule. */
  add(judged: Judged, seen: SeenIn): void {
    if (judged.verdict === "HELD") return;
    const { effect, thing } = judged;
    const finding = this.of({ ...judged, verdict: judged.verdict }, seen);
    const { verdict, place } = finding;
    const isKnown = this.all.some(
      (other) =>
        other.verdict === verdict &&
        (effect === null ? other.thing === thing : other.effect === effect.title && other.place?.line === place?.line),
    );
    if (isKnown) return;
    this.all.push(finding);
    this.effects.set(finding, effect);
  }

  of(judged: Wrong, { schedule, seed, timeline }: SeenIn): Finding {
    const { effect, thing, verdict } = judged;
    const title = effect?.title ?? null;
    const because = title === null ? null : this.options.accepts(title);
    return {
      verdict: because === null ? verdict : "ACCEPTED",
      kind: verdict,
      thing,
      place: judged.place ?? effect?.place ?? null,
      effect: title,
      step: effect?.step ?? null,
      schedule,
      seed,
      timeline,
      event: this.options.event,
      mend: null,
      because,
    };
  }

  effectOf(finding: Finding): SeenEffect | null {
    return this.effects.get(finding) ?? null;
  }

  replace(finding: Finding, better: Finding): void {
    this.all[this.all.indexOf(finding)] = better;
  }
}
