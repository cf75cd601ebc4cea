// Functions as groups need them: their keys, their retries, and what the radar takes for the same.
import type { FunctionConfig, KeyConfig } from "../model/function-config.ts";
import type { Alert } from "../store/alerts.ts";
import type { StoreReads } from "../store/reads.ts";

export interface KnownFunction {
  readonly key: KeyConfig | null;
  /** Tries of a step. */
  readonly attempts: number;
}

export interface KnownFunctions {
  of(fn: string): KnownFunction;
  /** Alerts that runs slipped through, closed ones left out. */
  readonly doubled: readonly Alert[];
  /** The expression that tells the runs of a function without a key apart, by the radar's best guess; null when it has none. */
  guessOf(fn: string): string | null;
  /** A person said that several runs of one thing are fine. */
  isSilenced(fn: string): boolean;
}

// One for each function and kind; more than this are looked at in /api/radar.
const alertsMax = 500;
const unknown: KnownFunction = { key: null, attempts: 1 };

export const isDoubling = ({ kind }: Pick<Alert, "kind">): boolean =>
  kind === "doubled-runs" || kind === "key-ran-again" || kind === "maybe-doubled";

export async function knownFunctions(reads: StoreReads, env: string): Promise<KnownFunctions> {
  const [{ functions }, alerts] = await Promise.all([reads.functions(env), reads.alerts(env, { limit: alertsMax })]);
  const known = new Map(
    functions.map(({ fn, config }): [string, KnownFunction] => {
      const { idempotency, retries } = JSON.parse(config) as FunctionConfig;
      return [fn, { key: idempotency, attempts: retries + 1 }];
    }),
  );
  const doubled = alerts.filter((alert) => isDoubling(alert) && alert.state !== "closed");
  const guesses = new Map(
    doubled.flatMap(({ kind, fn, subject }) => (kind === "doubled-runs" ? [[fn, subject] as const] : [])),
  );
  const silenced = new Set(doubled.flatMap(({ fn, state }) => (state === "muted" ? [fn] : [])));
  return {
    of: (fn) => known.get(fn) ?? unknown,
    doubled,
    guessOf: (fn) => ((known.get(fn)?.key ?? null) === null ? (guesses.get(fn) ?? null) : null),
    isSilenced: (fn) => silenced.has(fn),
  };
}
