// What an operation works with: the session its transaction is open in, the one instant of its commit, and the order of its
// recordings.
import type { RuleTransaction } from "../rules/database.ts";
import type { KnownClaim } from "./claim-key.ts";
import type { Connection } from "./connection.ts";
import type { KeptAnswers } from "./kept-answers.ts";
import type { LaneTurns } from "./lane-round.ts";
import type { EmptyBuffer } from "./lock-buffers.ts";
import type { RankFloors } from "./rank-floors.ts";
import type { NewListener, WaitChecks } from "./wait-checks.ts";

export interface Transaction extends RuleTransaction {
  readonly connection: Connection;
  /** What is recorded here from now on is later than what has this stamp. */
  sawStamp(stamp: number): void;
  /** What any node records after this commit is later than what was recorded here, also while the server's clock is set back. */
  keepStamps(): void;
  /** Keeps this instant as the earliest one any node may read. */
  keepTime(): void;
  readonly turns: LaneTurns;
  readonly floors: RankFloors;
  readonly waitChecks: WaitChecks;
  /** Events that it begins to wait for. */
  readonly listeners: ReadonlyMap<string, NewListener>;
  /** It begins to wait for events of these names; throws if one of them has to be watched first (wait-checks.ts). */
  watch(names: readonly NewListener[]): void;
  /** The keys it has locked, or read as taken. */
  readonly claims: Map<string, KnownClaim>;
  /** What was read or written ahead for many calls at once. */
  readonly ahead: Ahead;
}

export interface Ahead {
  readonly registrations: Map<string, number>;
  /** By `env id`: whether the event was stored just now, or was there before. */
  readonly events: Map<string, boolean>;
  /** By `env name`: whether anybody waits for events of that name. */
  readonly awaited: Map<string, boolean>;
  /** Names it has locked. */
  readonly names: Set<string>;
  /** By `env lane`, whose slots are locked: whether a run stands in line there. */
  readonly lanes: Map<string, boolean>;
  /** How much of the slots of those lanes is in use, with what was begun since. */
  readonly uses: Map<string, number>;
  /** Buffers it has made and put nothing into. */
  readonly emptyBuffers: Map<string, EmptyBuffer>;
  /** What duplicates are answered with. */
  readonly answers: KeptAnswers;
}

export const nothingAhead = (): Ahead => ({
  registrations: new Map(),
  events: new Map(),
  awaited: new Map(),
  names: new Set(),
  lanes: new Map(),
  uses: new Map(),
  emptyBuffers: new Map(),
  answers: { keys: new Map(), decisions: new Map(), events: new Map() },
});

export const inEnv = (env: string, name: string): string => `${env}\u0000${name}`;
