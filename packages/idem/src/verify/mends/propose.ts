// Which changes might make a finding go away, by the table of docs/verify.md: the smallest first. Each is tried before it is shown. Pure.
import type { Verdict } from "../../model/verdict.ts";
import { knownHost } from "../known-hosts.ts";
import type { Adversity } from "../schedules.ts";
import type { SeenEffect } from "../thing.ts";
import type { CallsAt, Change } from "./change.ts";

export interface ProposeFor {
  readonly verdict: Verdict;
  /** Of the smallest schedule that shows it. */
  readonly adversities: readonly Adversity[];
  readonly effect: SeenEffect | null;
  /** The key the function has; null for none. */
  readonly keyExpression: string | null;
  /** It says why it has none. */
  readonly isUnkeyed: boolean;
  /** The key the radar would suggest for it; null where no field will do. */
  readonly suggestedKey: string | null;
  /** `event.data.placementId`, what tells the twin apart; null for none. */
  readonly entityExpression: string | null;
}

type EffectChange = Extract<Change, { kind: "effect" }>;

/** Whether the destination takes a key: it is known to, that is unknown, or it does not. */
export function takesKey({ watcher, title }: Pick<SeenEffect, "watcher" | "title">): "known" | "unknown" | "none" {
  if (watcher !== "http") return "none";
  const host = knownHost(hostOf(title));
  if (host === null) return "unknown";
  return host.place === null ? "none" : "known";
}

/** "POST api.stripe.com/v1/invoices" → "api.stripe.com" */
export const hostOf = (title: string): string => (title.split(" ")[1] ?? "").split("/")[0]!.replace(/:\d+$/, "");

const callsOf = ({ place, title }: SeenEffect): CallsAt => ({
  file: place?.file ?? null,
  line: place?.line ?? 0,
  title,
});

function effectChanges(effect: SeenEffect | null): EffectChange[] {
  // Events are sent by the engine itself.
  if (effect === null || effect.watcher === "events") return [];
  const by = takesKey(effect) === "none" ? "look-up" : "key";
  const steps = effect.step === null ? (["own"] as const) : (["same", "own"] as const);
  return steps.map((step) => ({ kind: "effect", calls: callsOf(effect), step, by }));
}

export function propose(about: ProposeFor): Change[][] {
  const { verdict, adversities, effect, keyExpression, isUnkeyed, suggestedKey, entityExpression } = about;
  const effects = effectChanges(effect);
  const awaited: Change = { kind: "awaited" };
  switch (verdict) {
    case "DOUBLED": {
      const keys: Change[] =
        keyExpression === null && !isUnkeyed && suggestedKey !== null
          ? [{ kind: "function-key", expression: suggestedKey }]
          : [];
      const alone = effects.map((each): Change[] => [each]);
      const byKey = keys.map((each): Change[] => [each]);
      const both = keys.flatMap((key) => effects.map((each): Change[] => [key, each]));
      const late = effect?.isLate === true ? [[awaited], ...effects.map((each): Change[] => [awaited, each])] : [];
      const isDelivery = adversities.some(({ kind }) => ["other-id", "other-name", "pair"].includes(kind));
      return isDelivery ? [...byKey, ...alone, ...both, ...late] : [...alone, ...late, ...byKey, ...both];
    }
    case "LOST":
    case "HALF": {
      if (adversities.some(({ kind }) => kind === "twin")) {
        const finer = keyExpression === null || entityExpression === null ? [] : [entityExpression];
        const wider: Change[][] = finer.map((entity) => [
          { kind: "function-key", expression: `${keyExpression} + '-' + ${entity}` },
        ]);
        const keyed = effect?.key === null ? [] : effects.map((each): Change[] => [each]);
        return [...wider, ...keyed];
      }
      return [[awaited], ...effects.map((each): Change[] => [awaited, each])];
    }
    case "DIVERGED": {
      const clock: Change = { kind: "drawn-in-step", what: "clock" };
      const chance: Change = { kind: "drawn-in-step", what: "chance" };
      return [[clock], [chance], [clock, chance]];
    }
    default:
      return [];
  }
}
