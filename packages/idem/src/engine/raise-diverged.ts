// A run whose code asked for something new in place of a step it had done may have had an effect twice: the radar's alert of it, one for each
// function. Raised by the process that noticed, after the commit that wrote it down; the timeline has it in any case.
import type { Patch } from "../execute/ports.ts";
import { isDivergence, readDivergence } from "../model/divergence.ts";
import type { Store } from "../store/store.ts";

export interface RaisingEngine {
  readonly store: Pick<Store, "raise">;
  readonly env: string;
  readonly newId: () => string;
  readonly failed: (what: string, error: unknown) => void;
}

export function raiseDiverged(
  patch: Patch,
  run: { readonly id: string; readonly fn: string },
  of: RaisingEngine,
): void {
  // On the path of every commit, and hardly ever there.
  if (patch.steps === undefined || !patch.steps.some(isDivergence)) return;
  const found = patch.steps.filter(isDivergence).flatMap((step) => {
    const { stepId, name, asked } = readDivergence({ ...step, json: step.outcome.json });
    return asked === null ? [] : [{ before: name === "" ? stepId : name, asked, at: step.endedAt }];
  });
  const [first] = found;
  if (first === undefined) return;
  const { store, env, newId, failed } = of;
  const subject = `step "${first.before}", then "${first.asked}"`;
  const pairs = [{ entity: JSON.stringify(first.before), firstId: null, laterId: run.id, at: first.at }];
  const alert = { id: newId(), kind: "diverged", fn: run.fn, about: "", subject, facts: '{"of":"run"}', pairs };
  store.raise({ env, alerts: [alert] }).catch((error) => failed(`run ${run.id}: raising an alert`, error));
}
