// One thing that was, or may have been, sent: its claim, read.
import { createHash } from "node:crypto";
import type { ClaimRow } from "../claim/claims.ts";

export interface SentEntry {
  readonly id: string;
  readonly template: string;
  readonly recipient: string;
  readonly about: string | null;
  readonly attempts: number;
  /** The first try of this window. */
  readonly sendingAt: number;
  /** Since it became unknown whether it was sent; null when that is known. */
  readonly unknownForMs: number | null;
  readonly reason: string | null;
}

/** The claim's note. */
export interface SentNote {
  readonly template: string;
  readonly recipient: string;
  readonly about: string | null;
}

export const sentScope = "sent";

export const entryOf = ({ key, note, attempts, takenAt, unknownForMs, reason }: ClaimRow): SentEntry => ({
  ...(JSON.parse(note!) as SentNote),
  id: key,
  attempts,
  sendingAt: takenAt,
  unknownForMs,
  reason,
});

/** As a JSON list, so that no part can borrow characters from its neighbour. */
const hashOf = (...parts: readonly (string | number | null)[]) => createHash("sha256").update(JSON.stringify(parts));

export const entryId = (template: string, recipient: string, about: string | null): string =>
  hashOf("sent-log", template, recipient, about).digest("hex");

/** The same on every try of one window, another in the next: what a search at the provider is made by. */
export const tagOf = ({ key, generation }: Pick<ClaimRow, "key" | "generation">): string =>
  `idem_${hashOf(key, generation).digest("base64url").slice(0, 40)}`;
