// The promises to apps, subscribers and callers, and whether they were kept. Every check names what breaks it.
import type { Violation } from "../check.ts";
import { type AppName, givenBy, stepsOf } from "./messages.ts";
import type { Heard } from "./subscribers.ts";

/** A run that was asked for, and what became of it. */
export interface Asked {
  readonly app: AppName;
  readonly n: number;
  state: string | null;
  output: unknown;
  told: string | null;
}

export interface AppEvidence {
  readonly asked: readonly Asked[];
  /** Entries of each step, by app, number and name. */
  readonly entered: ReadonlyMap<string, number>;
  readonly published: ReadonlyMap<number, "acknowledged" | "unknown">;
  /** Refusals of publishing, counted by status. */
  readonly refusals: ReadonlyMap<number, number>;
  readonly subscribers: readonly {
    readonly name: string;
    readonly heard: readonly Heard[];
    readonly gaps: readonly { readonly after: number; readonly upTo: number }[];
    readonly lines: number;
  }[];
  readonly isSettled: boolean;
}

type Check = (evidence: AppEvidence) => Iterable<string>;

const checks: Readonly<Record<string, Check>> = {
  "every run ends, and its caller hears of it": function* ({ asked, isSettled }) {
    if (!isSettled) yield "something was still under way when its time was over";
    for (const { app, n, state } of asked) if (state === null) yield `run ${n} of ${app} did not end`;
  },

  "a run ends with what its steps gave": function* ({ asked }) {
    for (const { app, n, state, output, told } of asked) {
      if (state === null || state === "refused") continue;
      const wanted = stepsOf(app, n)
        .map((step) => givenBy(n, step))
        .join(" ");
      if (state !== "Completed" || output !== wanted) {
        yield `run ${n} of ${app} is ${state} with ${JSON.stringify(output)}, not ${JSON.stringify(wanted)} (${told})`;
      }
    }
  },

  "no step is left out": function* ({ asked, entered }) {
    for (const { app, n, state } of asked) {
      if (state !== "Completed") continue;
      for (const step of stepsOf(app, n)) {
        if (!entered.has(JSON.stringify([app, n, step]))) yield `run ${n} of ${app} ended without ${step}`;
      }
    }
  },

  "a subscriber hears nothing twice and nothing out of order": function* ({ subscribers }) {
    for (const { name, heard } of subscribers) {
      const seen = new Set<number>();
      let last = 0;
      for (const { n, place } of heard) {
        if (seen.has(n)) yield `${name} heard ${n} twice`;
        if (place <= last) yield `${name} heard ${n} at ${place}, after ${last}`;
        seen.add(n);
        last = place;
      }
    }
  },

  "a subscriber hears every message that was acknowledged, or is told of a gap": function* ({
    subscribers,
    published,
  }) {
    for (const { name, heard, gaps } of subscribers) {
      const seen = new Set(heard.map(({ n }) => n));
      const missing = [...published].flatMap(([n, how]) => (how === "acknowledged" && !seen.has(n) ? [n] : []));
      if (missing.length > 0 && gaps.length === 0) yield `${name} never heard ${missing.join(", ")}`;
      // A thousand messages fit into a channel, and nobody is away for so long here.
      if (gaps.length > 0) yield `${name} was told of gaps: ${JSON.stringify(gaps)}`;
    }
  },

  "all subscribers hear the same in the same order": function* ({ subscribers }) {
    const orders = subscribers.map(({ heard }) => heard.map(({ n, place }) => `${place}:${n}`));
    // They did not begin at the same instant.
    const from = Math.max(...subscribers.map(({ heard }) => heard[0]?.place ?? 0));
    const [first, ...others] = orders.map((order) => order.filter((each) => Number(each.split(":")[0]) >= from));
    for (const other of others) if (other.join() !== first!.join()) yield `${other.join()} and ${first!.join()}`;
  },
};

export const judge = (evidence: AppEvidence): Violation[] =>
  Object.entries(checks).flatMap(([check, run]) => [...run(evidence)].map((detail) => ({ check, detail })));
