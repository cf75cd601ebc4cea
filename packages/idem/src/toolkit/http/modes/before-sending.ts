// Before an effect of a list of phases is sent. The intent to try it is committed before its first byte, so that after a crash it is
// known since when the destination may have seen its key; beyond the destination's memory it is looked up or parked, never sent blindly.
import { createHash } from "node:crypto";
import type { AnyDestination, CustomDestination } from "../../../dedup/destination.ts";
import { type DestinationName, destination } from "../../../dedup/destinations.ts";
import { mayResend, reconcileAfterMsDefault } from "../../../dedup/retention-guard.ts";
import type { Reconciled } from "../../../execute/attempt-effect.ts";
import { parseDuration } from "../../../model/duration.ts";
import type { Tried } from "./phase-state.ts";
import type { Phase, PhaseContext, PhaseEffectContext } from "./phases.ts";

export type Effect = Extract<Phase<unknown>, { readonly kind: "effect" }>;

export type BeforeSending =
  /** With these the effect's code is called, once that is committed. */
  | { readonly kind: "send"; readonly facts: Readonly<Record<string, unknown>> & PhaseContext & PhaseEffectContext }
  | { readonly kind: "found"; readonly value: unknown }
  | { readonly kind: "park"; readonly reason: string };

/** Of the record and the phase's name, and of nothing that an attempt or another version of the list could change. 45 characters. */
export const phaseKey = (recordId: string, phase: string): string =>
  `idem-${createHash("sha256")
    .update(JSON.stringify([recordId, phase]))
    .digest("hex")
    .slice(0, 40)}`;

export async function beforeSending(
  { name, repeat }: Effect,
  known: Readonly<Record<string, unknown>> & PhaseContext,
  of: { readonly recordId: string; readonly tried: Tried | null; readonly now: number },
): Promise<BeforeSending> {
  const to = repeat.destination === undefined ? null : describedBy(repeat.destination);
  const facts = { ...known, ...keysFor(to, phaseKey(of.recordId, name), repeat) };
  const { tried, now } = of;
  if (tried === null || repeat.repeatable === true) return { kind: "send", facts };
  const since = tried.first;
  const hasReconcile = repeat.reconcile !== undefined;
  // Where no destination knows the key, only the look-up does.
  switch (mayResend({ destination: to ?? { remembersMs: 0 }, firstTriedAt: since, now, hasReconcile })) {
    case "send":
      return { kind: "send", facts };
    case "park":
      return { kind: "park", reason: forgotten(name, to, since) };
    case "reconcile":
  }
  const found: Reconciled<unknown> = await repeat.reconcile!({ ...facts, since } as never);
  if (found === "unknown") return { kind: "park", reason: notFoundOut(name, since) };
  if (found !== "absent") return { kind: "found", value: found.found };
  if (now < tried.last + reconcileAfterMs(repeat.reconcileAfter)) {
    throw new Error(`The effect "${name}" was not found, but may not be listed yet; it is looked for again`);
  }
  return { kind: "send", facts };
}

const reconcileAfterMs = (given: string | number | undefined): number =>
  given === undefined ? reconcileAfterMsDefault : parseDuration(given, "reconcileAfter");

const describedBy = (given: DestinationName | AnyDestination | CustomDestination): AnyDestination =>
  typeof given === "string" ? destination(given) : "remembersMs" in given ? given : destination(given);

function keysFor(
  to: AnyDestination | null,
  key: string,
  repeat: { readonly account?: string } | object,
): Pick<PhaseEffectContext, "key" | "headers"> {
  if (to === null || to.place === null) return { key, headers: {} };
  const account = "account" in repeat ? repeat.account : undefined;
  return { key: to.key(key, account), headers: to.headers(key, account) };
}

const forgotten = (name: string, to: AnyDestination | null, since: number): string =>
  `the effect "${name}" was first tried at ${new Date(since).toISOString()}, and ${to?.name ?? "its destination"} may have forgotten its key; find out whether it happened`;

const notFoundOut = (name: string, since: number): string =>
  `the effect "${name}" was first tried at ${new Date(since).toISOString()}, and its look-up could not tell whether it happened`;
