// A watcher of one kind of effect. It replaces, once for the thread and before any module of the user's, what leads outside; from then on it asks the world
// whether an effect happens, carries it out on a model in memory, and shows what that holds at the world's end.
//
// Of an app the two halves are apart: what is replaced is in the app's process (`open`, and a world that it notes things in), what is held in the command
// (a world that reads those notes).
//
// To add one: a file `watch-<kind>.ts` that exports a Watcher, and its place in the lists of `thread.ts`, `app/watch-app.ts` and `app/app-outside.ts`.

import type { Store } from "../../store/store.ts";
import type { GivenAnswer, ModelRequest } from "../destination-model.ts";
import type { AbsentField, Json, Thing } from "../thing.ts";
import type { Life } from "./life.ts";
import type { NotesOf } from "./notes.ts";
import type { DatabaseScript, DatabasesScript } from "./sql/database-script.ts";
import type { Fixture } from "./world-script.ts";

/** An effect that is about to happen. */
export interface AskedEffect {
  readonly watcher: string;
  /** For people, and what "the same effect again" means: "POST api.stripe.com/v1/invoices". */
  readonly title: string;
  /** The idempotency key it carries. */
  readonly key: string | null;
}

/** The fate of an effect; the watcher passes it to the user's code in the way of what it replaced. */
export type Effected<T> =
  | { readonly kind: "happened"; readonly value: T }
  /** It happened, or not: the connection broke. */
  | { readonly kind: "lost" }
  | { readonly kind: "refused"; readonly status: 500 | 429 | 409 };

export interface Applied {
  /** The function whose code asks, and the effect's number in the world. */
  readonly fn: string | null;
  readonly effect: number;
  /** A key that it is given in place of its own, to see what that would change; null for its own. */
  readonly key: string | null;
}

/** An effect as the model carried it out. */
export interface Carried<T> {
  readonly value: T;
  /** The destination knew its key, and answered as before. */
  readonly isRepeat: boolean;
  /** It had known its key, and has forgotten it. */
  readonly isForgotten?: boolean;
}

/** The world around an effect, whichever is the caller's. */
export interface Outside {
  /**
   * May never come back: the process died. `apply` carries it out on the model and says whether it was a repeat the destination had already answered.
   */
  effect<T>(about: AskedEffect, apply: (by: Applied) => Carried<T>): Promise<Effected<T>>;
  /** The same for what is really carried out, by a server of the world's own. */
  effectLater<T>(about: AskedEffect, apply: (by: Applied) => Promise<Carried<T>>): Promise<Effected<T>>;
  /** The same for a call that cannot wait (`writeFileSync`): a process that dies in it runs on unheard until it gives up its turn. */
  effectNow<T>(about: AskedEffect, apply: (by: Applied) => Carried<T>): Effected<T>;
  /**
   * Only asks, changes nothing: no adversity meets it. Never comes back to a process that is dead. `title`, of what is asked of others, as an effect has one.
   */
  read<T>(body: () => T, title?: string): Promise<T>;
  /** The same for a call that cannot wait. */
  readNow<T>(body: () => T, title: string): T;
  /** Something was reached for that nobody watches: the verdict is UNPROVEN, by this name. */
  unproven(what: string): void;
  /** Something is taken for granted that nobody watches: said, and not counted. Absent where nothing is. */
  assume?(what: string): void;
  /** Whether the code that runs is of a world; the command's own is not watched. */
  isWatched(): boolean;
  /** Something is under way that the world has to wait for; call what it gives when it is over. */
  begin(): () => void;
}

/** A watcher's part of one world. */
export interface WatchedWorld {
  /** Before the first process: what it needs is there, and as it was. */
  ready?(): Promise<void>;
  /** After a death, before another process takes over: nothing of the dead one is left. */
  bury?(): Promise<void>;
  /** After the last process: what `things` shows is known. */
  end?(): Promise<void>;
  things(): readonly Thing[];
  /** Whether something stands there that a process has still to hand on. */
  waiting?(): Promise<boolean>;
  /** Left there to a person, who knows. */
  parked?(): readonly string[];
  /** The engine's outbox and transactions there, where its store is one of these; null otherwise. */
  engineOf?(life: Life, configured: unknown, store: Store): Pick<Store, "outbox" | "transactional"> | null;
  /** Ids that were made up there. */
  readonly madeIds: readonly string[];
  /** Answers of allow-listed hosts, without secrets. */
  recorded?(): readonly Fixture[];
  /** Fields of answers that were read in vain. */
  absent?(): readonly AbsentField[];
  /** The databases as another process finds them, that this world is played in. */
  forProcess?(): readonly DatabaseScript[];
  /** The clock has moved, and code is about to run. */
  moved?(): Promise<void>;
  /** Whether a statement waits for a lock there. */
  isLocked?(): Promise<boolean>;
}

export interface WorldOfWatcher {
  readonly now: () => number;
  /** Something happened: those that wait for quiet wait on. */
  readonly stir: () => void;
  readonly assume: (what: string) => void;
  readonly given: (request: ModelRequest) => GivenAnswer | null;
  readonly recordFrom: readonly string[];
  /** Absent where modules are only looked at, and nobody said which there are. */
  readonly databases?: DatabasesScript;
  /** Variables of the program's environment. */
  readonly setEnvironment: (values: Readonly<Record<string, string>>) => void;
  /** Notes on it. */
  readonly notes: NotesOf;
  /** Of an app: the folder that takes what it writes, and outlives its processes. Null for one that the thread makes itself. */
  readonly filesIn: { readonly root: string; readonly home: string } | null;
  /** The processes of this world are others than the one that looks at it. */
  readonly isApart: boolean;
  /** The data of what is delivered to the world. */
  readonly events: readonly Json[];
}

export interface Watcher {
  readonly name: string;
  /** Once for the thread. */
  open(outside: Outside): void | Promise<void>;
  /** Before each world: forgets the last one's. */
  begin(world: WorldOfWatcher): WatchedWorld;
}
