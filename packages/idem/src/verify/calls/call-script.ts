// The script of a world of calls: a handler, its sender, and what goes wrong. Plain data: it crosses to a thread.
import type { Adversity, Side } from "../schedules.ts";
import type { WorldRecord } from "../thing.ts";
import type { DatabaseScript } from "../worker/sql/database-script.ts";
import type { Fixture } from "../worker/world-script.ts";

/** Senders differ in what they take for an answer, and in how often they come again. */
export type SenderKind = "client" | "provider" | "scheduler";

/** A handler, by the module that exports it. */
export interface HandlerPlace {
  readonly module: string;
  readonly name: string;
  /** `(Request) => Response`, `(request, response) => …`, null to find out; `plain` is called without anything. */
  readonly style: "fetch" | "node" | "plain" | null;
}

/** The signature of a delivery, made when it leaves: providers sign each anew, with its time. */
export type Signing =
  | { readonly provider: string; readonly secret: string; readonly id: string; readonly type: string | null }
  /** By a function that the handler's module, or another, exports: it is given the body and the time, and gives headers. */
  | { readonly module: string; readonly name: string };

export interface SentCall {
  /** For people: "POST /charges, key k1". */
  readonly what: string;
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | null;
  readonly signing: Signing | null;
  /** Its sender does not come again. */
  readonly isOnce?: boolean;
  /** The signature is spoilt on the way. */
  readonly isSpoilt?: boolean;
}

export interface CallScript {
  readonly modules: readonly string[];
  /** As they were prepared. */
  readonly databases: readonly DatabaseScript[];
  readonly handler: HandlerPlace;
  readonly sender: SenderKind;
  /** By their names in plans. */
  readonly calls: Readonly<Record<string, SentCall>>;
  readonly startMs: number;
  readonly fixtures: readonly Fixture[];
}

export interface Arrival {
  readonly call: string;
  /** Milliseconds after everything before it has ended; null: together with what is before it. */
  readonly afterMs: number | null;
  /** At another process, which runs beside. */
  readonly isElsewhere?: boolean;
}

/** One schedule of calls: what arrives, what goes wrong, and what has to be there in the end. */
export interface CallPlan {
  readonly id: string;
  readonly arrivals: readonly Arrival[];
  /** Happen to effects and to the engine's commits. */
  readonly adversities: readonly Adversity[];
  /** The process dies around the k-th time it writes to its store for a call. */
  readonly dieAtWrite?: { readonly write: number; readonly side: Side };
  /** It has done everything, and dies before its first answer leaves. */
  readonly diesBeforeAnswer?: boolean;
  /** Calls that take effect, once each. */
  readonly expected: readonly string[];
  /** A call that has to be refused. */
  readonly refused?: string;
  /** Nothing of it is a fault: what comes of it is a note. */
  readonly note?: string;
}

/** The last answer that a caller got. */
export interface CallOutcome {
  readonly call: string;
  readonly tries: number;
  /** Of the last answer; null where none came, 0 for a value that is no response. */
  readonly status: number | null;
  /** A person has to decide, and the caller knows. */
  readonly isParked: boolean;
  readonly error: string | null;
}

export interface CallRecord extends WorldRecord {
  readonly calls: readonly CallOutcome[];
  /** Writes to the store for calls. */
  readonly writes: number;
}
