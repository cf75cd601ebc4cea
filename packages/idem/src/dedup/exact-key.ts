// A key of an event whose numbers are longer than JavaScript's. Digits that are in the event's text count; where a key depends on digits
// that were lost before the event came here, there is no key: the same text may stand for two things.
//
// Which numbers a key depends on is tried: each is moved to the next double, and a key that changes depends on it.
import type { Expression } from "../model/expression.ts";
import { evaluateKey, type KeyEvaluation } from "../model/expression-outcome.ts";
import {
  digitsOf,
  kindOfNumber,
  mayHoldDouble,
  type NumberKind,
  nextDouble,
  parseWithNumbers,
} from "../model/long-number.ts";

/** Seen by expressions, with the texts it was read from. */
export interface KeyedEvent {
  readonly payload: object;
  readonly data: string;
  readonly extra: string | null;
}

export type ExactKey = KeyEvaluation | { readonly kind: "lost"; readonly reason: string };

// Each is tried by itself; a key of more numbers has to be made of texts.
const decimalsMax = 16;
const keyCharsMax = 1_024;

export function exactKey(expression: Expression, event: KeyedEvent): ExactKey {
  const { payload, data, extra } = event;
  if (!mayHoldDouble(data) && (extra === null || !mayHoldDouble(extra)))
    return evaluateKey(expression, { event: payload });
  const kinds = new Map<string, NumberKind>();
  const keyWith = (isMoved: (literal: string) => boolean): KeyEvaluation =>
    evaluateKey(expression, { event: exactPayload(event, kinds, isMoved) });
  const key = keyWith(() => false);
  const isNeeded = (isMoved: (literal: string) => boolean) => !isSame(key, keyWith(isMoved));
  const ofKind = (wanted: NumberKind) => [...kinds].flatMap(([literal, kind]) => (kind === wanted ? [literal] : []));
  const lost = new Set(ofKind("lost"));
  if (lost.size > 0 && isNeeded((literal) => lost.has(literal)))
    return { kind: "lost", reason: lostWhy([...lost][0]!) };
  const decimals = new Set(ofKind("decimal"));
  if (key.kind !== "key" || decimals.size === 0 || !isNeeded((literal) => decimals.has(literal))) return key;
  if (decimals.size > decimalsMax) return { kind: "lost", reason: `of more than ${decimalsMax} numbers, ${howToSend}` };
  const needed = [...decimals].filter((literal) => isNeeded((each) => each === literal));
  const text = `${key.key} of ${[...new Set(needed.map(digitsOf))].sort().join(" ")}`;
  return text.length <= keyCharsMax ? { kind: "key", key: text } : { kind: "lost", reason: `too long, ${howToSend}` };
}

const howToSend = "whose digits JavaScript's numbers do not hold; send them as texts";

const lostWhy = (literal: string): string =>
  `it depends on ${Number(literal)}, an integer past 2^53 that was a JavaScript number: another may have become the same; send it as a text`;

const isSame = (a: KeyEvaluation, b: KeyEvaluation): boolean =>
  a.kind === b.kind && (a.kind !== "key" || a.key === (b as typeof a).key);

/** Integers are whole; of the other long ones those that are moved have the next double's value. */
function exactPayload(
  { payload, data, extra }: KeyedEvent,
  kinds: Map<string, NumberKind>,
  isMoved: (literal: string) => boolean,
): object {
  const read = (text: string) =>
    parseWithNumbers(text, (literal) => {
      const kind = kinds.get(literal) ?? kindOfNumber(literal);
      if (kind === "plain") return undefined;
      kinds.set(literal, kind);
      if (kind === "integer") return BigInt(literal);
      return isMoved(literal) ? nextDouble(Number(literal)) : Number(literal);
    });
  const { v, user, meta } = (extra === null ? {} : read(extra)) as { v?: unknown; user?: unknown; meta?: unknown };
  const beside = Object.entries({ v, user, meta }).filter(([, value]) => value !== undefined);
  return { ...payload, ...Object.fromEntries(beside), data: read(data) };
}
