// The callers of a handler: what is an answer to them, and when they come again. Pure.
import type { SenderKind } from "../calls/call-script.ts";
import type { Answered } from "./call-handler.ts";

const second = 1_000;
const minute = 60 * second;

/** They wait this long for an answer. */
export const waitsMs: Readonly<Record<SenderKind, number>> = {
  client: 30 * second,
  provider: 15 * second,
  scheduler: 5 * minute,
};

const triesMax: Readonly<Record<SenderKind, number>> = { client: 14, provider: 9, scheduler: 9 };
/** A client gives up after this many failures. */
const failuresMax = 4;

// As providers space them: moments first, then hours.
const providerMs = [
  5 * second,
  minute,
  5 * minute,
  30 * minute,
  120 * minute,
  300 * minute,
  600 * minute,
  1_440 * minute,
];

function spacing(sender: SenderKind, tries: number): number | null {
  if (tries >= triesMax[sender]) return null;
  if (sender === "client") return Math.min(minute, second * 2 ** (tries - 1));
  return sender === "provider" ? (providerMs[tries - 1] ?? null) : minute;
}

/** Milliseconds until the next try; null for none. */
export const afterSilence = (sender: SenderKind, tries: number): number | null => spacing(sender, tries);

const isPassing = (status: number): boolean => status >= 500 || [408, 409, 425, 429].includes(status);

export function afterAnswer(
  sender: SenderKind,
  { status, isParked, isUnsettled, retryAfterMs }: Answered,
  { tries, failures }: { readonly tries: number; readonly failures: number },
): number | null {
  if (isParked) return null;
  const next = spacing(sender, tries);
  if (isUnsettled) return next;
  // A throw is a server's 500.
  const told = status ?? 500;
  if (told < 400) return null;
  if (sender === "client" && (!isPassing(told) || failures >= failuresMax)) return null;
  return next === null ? null : Math.max(next, retryAfterMs);
}
