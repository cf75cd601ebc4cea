// The delivery that no sandbox ever fires and production fires every day: the same event, twice.
import { refuseUnknown } from "../model/known-options.ts";
import type { Idem } from "../sdk/client.ts";
import type { PublicDecision } from "../sdk/public-types.ts";

export interface DeliverTwice {
  /**
   * `again`: the same event after the first was accepted (a redelivered webhook).
   * `under-another-name`: the same data under a second event name (Bullhorn's INSERTED and UPDATED).
   * `at-once`: both before either is answered (a double click).
   */
  readonly how: "again" | "under-another-name" | "at-once";
  /** The second event's name, for `under-another-name`. */
  readonly secondName?: string;
}

export interface Delivered {
  /** Distinct runs that were started: one means the second delivery was recognised. */
  readonly started: readonly string[];
  /** The decisions that started nothing, each with its reason and the run that answers for it. */
  readonly suppressed: readonly PublicDecision[];
  readonly decisions: readonly PublicDecision[];
}

export async function deliverTwice(
  idem: Idem,
  event: { readonly name: string; readonly id?: string; readonly data?: Record<string, unknown> },
  options: DeliverTwice,
): Promise<Delivered> {
  refuseUnknown<DeliverTwice>("deliverTwice", options, { how: true, secondName: true });
  const { how, secondName } = options;
  if (how === "under-another-name" && secondName === undefined) {
    throw new Error('deliverTwice under another name needs { secondName: "…" }');
  }
  const second = how === "under-another-name" ? { ...event, name: secondName! } : event;
  const sent =
    how === "at-once"
      ? await Promise.all([idem.send(event), idem.send(second)])
      : [await idem.send(event), await idem.send(second)];
  await idem.idle();
  const decisions = sent.flatMap((result) => result.decisions);
  const started = decisions.filter((decision) => decision.kind === "started");
  return {
    started: [...new Set(started.map((decision) => decision.runId!))],
    suppressed: decisions.filter((decision) => decision.kind !== "started"),
    decisions,
  };
}
