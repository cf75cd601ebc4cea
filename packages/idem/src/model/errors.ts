// Every error Idem raises, in one table: what happened to which thing, what to do next, and whether trying again can help.
// docs/errors.md lists the same codes; repository-checks.test.ts compares the two.

import { define, type ErrorDefinition, type Facts, type Retry } from "./error-definition.ts";
import { serverErrors } from "./server-errors.ts";
import { storeErrors } from "./store-errors.ts";
import { toolkitErrors } from "./toolkit-errors.ts";

export const errorTable = {
  // -- what the caller wrote ------------------------------------------------------------------------------------------
  EVENT_INVALID: define<{ where: string; why: string }>({
    retry: "after-fix",
    what: ({ where, why }) => `${where} cannot be accepted: ${why}`,
    next: "Correct the event and send it again; nothing of this call was stored",
  }),
  EVENT_TOO_LARGE: define<{ where: string; bytes: number; max: number }>({
    retry: "after-fix",
    what: ({ where, bytes, max }) => `${where} is ${bytes} bytes, more than the ${max} an event may have`,
    next: "Store the large part elsewhere and send its address; nothing of this call was stored",
  }),
  EVENT_SCHEMA: define<{ where: string; path: string; why: string }>({
    retry: "after-fix",
    what: ({ where, path, why }) => `${where} does not fit its schema at ${path}: ${why}`,
    next: "Correct that field, or the schema given to the client; nothing of this call was stored",
  }),
  EVENT_NAME_RESERVED: define<{ where: string; name: string; source: string }>({
    retry: "after-fix",
    what: ({ where, name, source }) =>
      `${where} cannot be accepted: the name "${name}" is reserved for deliveries of the webhook source "${source}"`,
    next: "Send it under another name, or make the source with --allow-other-senders; nothing of this call was stored",
  }),
  EVENT_BATCH_TOO_LARGE: define<{ count: number; max: number }>({
    retry: "after-fix",
    what: ({ count, max }) => `${count} events were sent in one call, more than the ${max} allowed`,
    next: "Split the list; nothing of this call was stored",
  }),
  FUNCTION_INVALID: define<{ function: string; why: string }>({
    retry: "after-fix",
    what: (f) => `Function "${f.function}" cannot be registered: ${f.why}`,
    next: "Correct the function's configuration",
  }),
  FUNCTION_WAS_CONFLICT: define<{ function: string; why: string }>({
    retry: "after-fix",
    what: (f) => `Function "${f.function}" cannot be told from another one by its names: ${f.why}`,
    next: "Give each function an id, and a `was`, of its own; an id that a function had before is not another one's while `was` names it",
  }),
  FUNCTION_UNKNOWN: define<{ function: string }>({
    retry: "after-fix",
    what: (f) => `No function "${f.function}" is registered`,
    next: "Check the id, and that the process that defines the function has been started once",
  }),
  EXPRESSION_INVALID: define<{ expression: string; why: string }>({
    retry: "after-fix",
    what: ({ expression, why }) => `The expression \`${expression}\` is not usable: ${why}`,
    next: "Correct the CEL expression; docs/errors.md shows examples",
  }),
  DURATION_INVALID: define<{ value: string; why: string }>({
    retry: "after-fix",
    what: ({ value, why }) => `"${value}" is not a usable duration: ${why}`,
    next: 'Write it as number and unit, such as "30s", "10m", "1h30m", "7d", or as milliseconds',
  }),
  CRON_INVALID: define<{ value: string; why: string }>({
    retry: "after-fix",
    what: ({ value, why }) => `"${value}" is not a usable cron schedule: ${why}`,
    next: 'Use five fields, optionally after a zone: "TZ=Europe/Paris 0 9 * * 1"',
  }),
  OPTION_INVALID: define<{ option: string; why: string }>({
    retry: "after-fix",
    what: ({ option, why }) => `Option "${option}" is not usable: ${why}`,
    next: "Correct the option",
  }),
  OPTION_UNKNOWN: define<{ where: string; option: string; meant: string; known: readonly string[] }>({
    retry: "after-fix",
    what: ({ where, option, meant, known }) =>
      `${where}: unknown option "${option}"${meant === "" ? `; known are ${known.join(", ")}` : meant}`,
    next: "Correct its name or remove it: an option nobody reads would be missed when it is needed",
  }),
  STEP_INVALID: define<{ step: string; why: string }>({
    retry: "after-fix",
    what: ({ step, why }) => `Step "${step}" cannot be used this way: ${why}`,
    next: "Correct the call in the function's code; the run continues from its memo when it is run again",
  }),
  STEP_NESTED: define<{ step: string; outer: string; isOver: boolean }>({
    retry: "after-fix",
    what: ({ step, outer, isOver }) =>
      `Step "${step}" was started inside the body of step "${outer}"${isOver ? ", which has ended" : ""}; it did not run`,
    next: "Start it after that step instead, or do its work in the body without a step: a body that is stopped in its middle is entered again, with everything in it",
  }),
  STEP_WAS_CONFLICT: define<{ step: string; why: string }>({
    retry: "after-fix",
    what: ({ step, why }) => `Step "${step}" cannot be told from another one: ${why}; it did not run`,
    next: "The run is parked: give each step an id, and a `was`, of its own, deploy, and release the run",
  }),
  VALUE_UNSERIALIZABLE: define<{ where: string; path: string; why: string }>({
    retry: "after-fix",
    what: ({ where, path, why }) => `${where} holds a value that JSON cannot carry at ${path}: ${why}`,
    next: "Return a plain value: convert it first, or leave the field out",
  }),
  STEP_TOO_LARGE: define<{ step: string; bytes: number; max: number }>({
    retry: "never",
    what: ({ step, bytes, max }) => `Step "${step}" returned ${bytes} bytes, more than the ${max} a step may keep`,
    next: "Store the large result elsewhere and return its address",
  }),
  RUN_TOO_LARGE: define<{ runId: string; bytes: number; max: number }>({
    retry: "never",
    what: ({ runId, bytes, max }) => `Run ${runId} holds ${bytes} bytes of step results, more than the ${max} allowed`,
    next: "Return addresses instead of bodies, or split the function with step.invoke",
  }),
  RUN_TOO_MANY_STEPS: define<{ runId: string; max: number }>({
    retry: "never",
    what: ({ runId, max }) => `Run ${runId} asked for more than ${max} steps`,
    next: "Split the function: step.invoke or step.sendEvent start further runs with their own steps",
  }),
  RUN_TOO_MANY_DEFERS: define<{ runId: string; max: number }>({
    retry: "never",
    what: ({ runId, max }) => `Run ${runId} put off more than ${max} pieces of work`,
    next: "Send one event for many of them, or put them off from several runs",
  }),
  METADATA_TOO_LARGE: define<{ runId: string; bytes: number; max: number }>({
    retry: "after-fix",
    what: ({ runId, bytes, max }) => `Metadata of run ${runId} would have ${bytes} bytes, more than ${max}`,
    next: "Keep what is large where it belongs and its address in the metadata; nothing of this call was kept",
  }),
  TRANSACTION_UNSUPPORTED: define<{ call: string }>({
    retry: "after-fix",
    what: ({ call }) => `${call} needs an engine on PostgreSQL in this process: it writes into that database`,
    next: 'Give the client store: "postgres://…", the database your own tables are in; a SQLite file, memory: and an app that a server calls have none (docs/transactions.md)',
  }),
  TRANSACTION_UNUSABLE: define<{ why: string }>({
    retry: "after-fix",
    what: ({ why }) => `The transaction given to send cannot carry events: ${why}`,
    next: "Roll it back; none of these events will be sent. docs/transactions.md shows what to hand over",
  }),
  TRANSACTION_MISUSED: define<{ why: string }>({
    retry: "after-fix",
    what: ({ why }) => `A step's transaction failed: ${why}`,
    next: "Correct the body of step.transaction; the run continues from its memo when it is run again",
  }),
  MOCK_UNUSED: define<{
    function: string;
    mocks: readonly string[];
    meant: string;
    steps: readonly string[];
    end: string;
  }>({
    retry: "after-fix",
    what: ({ mocks, meant, steps, end, ...f }) =>
      `In execute(…) no step of function "${f.function}" asked for the mock ${mocks.map((name) => JSON.stringify(name)).join(", ")}${meant}. The steps it asked for: ${steps.join(", ") || "none"}; the run ${end}`,
    next: "Correct the name, or leave the mock out: a step without one ran as in production",
  }),
  VERIFY_UNABLE: define<{ about: string; why: string }>({
    retry: "after-fix",
    what: ({ about, why }) => `${about} cannot be verified: ${why}`,
    next: "Nothing was played, and nothing is known; docs/verify.md says what is needed",
  }),
  // -- what a run met --------------------------------------------------------------------------------------------------
  RUN_UNKNOWN: define<{ runId: string }>({
    retry: "never",
    what: ({ runId }) => `There is no run ${runId} in this environment`,
    next: "Check the id; runs past their retention are gone",
  }),
  SUBJECT_UNKNOWN: define<{ id: string }>({
    retry: "never",
    what: ({ id }) => `Nothing in this environment is known as ${id}`,
    next: "Check it: an event is known by its stored id or the one its sender gave, a run by its id, a key while its window is open",
  }),
  EVENT_NOT_WAITING: define<{ eventId: string; why: string }>({
    retry: "never",
    what: ({ eventId, why }) => `Event ${eventId} does not wait for a person: ${why}`,
    next: "Nothing was changed; idem explain tells what became of the event",
  }),
  RUN_ENDED: define<{ runId: string; state: string }>({
    retry: "never",
    what: ({ runId, state }) => `Run ${runId} is ${state} already`,
    next: "Nothing is left to cancel; what it did stands",
  }),
  RUN_STEP_UNKNOWN: define<{ runId: string; step: string }>({
    retry: "after-fix",
    what: ({ runId, step }) => `Run ${runId} has no step "${step}"`,
    next: "Use a step of the run's timeline; the n-th repeat of an id is written id:n",
  }),
  RERUN_OTHER_KEY: define<{ runId: string; key: string; dataKey: string }>({
    retry: "after-fix",
    what: ({ runId, key, dataKey }) =>
      `The data is about something else than run ${runId}: it gives key ${dataKey}, the run's key is ${key}`,
    next: "Keep what the key is made of, or send the data as an event of its own, which asks its own key",
  }),
  RUN_TIMED_OUT: define<{ runId: string; afterMs: number }>({
    retry: "never",
    what: ({ runId, afterMs }) => `Run ${runId} did not end within ${afterMs} ms`,
    next: "Raise timeouts.finish, or find the step that took the time in the run's timeline",
  }),
  RUN_START_TIMED_OUT: define<{ runId: string; afterMs: number }>({
    retry: "never",
    what: ({ runId, afterMs }) => `Run ${runId} did not begin within ${afterMs} ms`,
    next: "Raise timeouts.start, or the limit the run stood in line for; `idem rerun` starts it again",
  }),
  RUN_WAIT_TIMED_OUT: define<{ runId: string; afterMs: number }>({
    retry: "later",
    what: ({ runId, afterMs }) => `Run ${runId} has not ended within the ${afterMs} ms it was waited for`,
    next: "The run goes on; wait for it again, or cancel it with runs.cancel",
  }),
  RUN_UNATTENDED: define<{ runId: string }>({
    retry: "after-fix",
    what: ({ runId }) => `Run ${runId} is waited for, but nothing executes it: no process over its store was started`,
    next: "Call start() on the client, or start a process that has the function; what was accepted is kept until then",
  }),
  RUN_DIVERGED: define<{ runId: string; why: string }>({
    retry: "after-fix",
    what: ({ runId, why }) => `Run ${runId} diverged from what it did before: ${why}`,
    next: "Give the step its id back, or rerun the run from a step; docs/deploying.md says which changes are safe while runs are under way",
  }),
  STEP_TIMED_OUT: define<{ step: string; afterMs: number }>({
    retry: "later",
    what: ({ step, afterMs }) => `Step "${step}" did not end within its limit of ${afterMs} ms`,
    next: "It is tried again like any failed attempt; hand its signal to what it calls, or raise its timeout",
  }),
  RUN_LOST_WORKERS: define<{ runId: string; count: number }>({
    retry: "never",
    what: ({ runId, count }) => `Run ${runId} lost its worker ${count} times in a row without finishing a step`,
    next: "A step probably ends the process (out of memory, process.exit); mend it and rerun the run",
  }),
  INVOKE_TIMED_OUT: define<{ step: string; function: string }>({
    retry: "never",
    what: (f) => `Step "${f.step}" waited for function "${f.function}" until its timeout`,
    next: "The invoked run goes on; raise the step's timeout if its result is needed",
  }),
  SIGNAL_TAKEN: define<{ signal: string }>({
    retry: "after-fix",
    what: ({ signal }) => `Signal "${signal}" is already waited for by another run`,
    next: 'Use a signal name of its own for each run, or onConflict: "replace"',
  }),
  // -- the server: apps reached over a wire, people, requests -----------------------------------------------------------
  ...serverErrors,
  // -- where facts live --------------------------------------------------------------------------------------------------
  STORE_OWNED: define<{ path: string; owner: string }>({
    retry: "later",
    what: ({ path, owner }) => `The store ${path} is in use by ${owner}`,
    next: "One process owns a SQLite file, by one client. Stop the other process, or run web and worker processes on PostgreSQL or beside an Idem server; within one process use one client, kept on globalThis where a bundler loads its module twice (docs/quickstarts/nextjs.md)",
  }),
  STORE_NEWER: define<{ path: string; found: number; known: number }>({
    retry: "after-fix",
    what: ({ path, found, known }) =>
      `The store ${path} has schema version ${found}; this version of Idem knows up to ${known}`,
    next: "Upgrade Idem on this machine; nothing was changed in the store",
  }),
  STORE_HISTORY_DIFFERS: define<{ path: string; why: string }>({
    retry: "after-fix",
    what: ({ path, why }) => `The store ${path} was made by other migrations than those of this Idem: ${why}`,
    next: "Open it with the build that made it, or restore a backup; what was changed by hand, change back. Nothing was changed in the store",
  }),
  STORE_NOT_DURABLE: define<{ path: string; why: string }>({
    retry: "after-fix",
    what: ({ path, why }) => `The store ${path} cannot promise durability: ${why}`,
    next: "Move a file to a local disk with a current SQLite, or change the server's setting; Idem does not start on a store that may lose commits",
  }),
  STORE_DURABILITY_LOST: define<{ path: string; why: string }>({
    retry: "later",
    what: ({ path, why }) => `The store ${path} was set to lose commits while it was open: ${why}`,
    next: "Set it back, on the server, the database and the role: processes go on by themselves. Nothing of this call was stored",
  }),
  STORE_MOVED: define<{ path: string; to: string; at: string }>({
    retry: "after-fix",
    what: ({ path, to, at }) => `The store ${path} was moved to ${to} at ${at}`,
    next: "Open that store instead: what happened there since is not in this file. To use the file all the same, never both: idem migrate-store --reopen sqlite:<file>",
  }),
  STORE_MOVING: define<{ path: string; from: string }>({
    retry: "after-fix",
    what: ({ path, from }) => `The store ${path} is being filled from ${from}, and not all of it is there`,
    next: "Let the move end; one that was stopped goes on when idem migrate-store is started again with the same two stores",
  }),
  STORE_NOT_EMPTY: define<{ path: string; why: string }>({
    retry: "after-fix",
    what: ({ path, why }) => `The store ${path} cannot take in another one: ${why}`,
    next: "Move into a schema of its own, such as postgres://…/shop?schema=idem_shop; nothing was changed",
  }),
  // `isReachable`: the store replied, with an error: no outage.
  STORE_UNAVAILABLE: define<{ why: string; isReachable?: boolean }>({
    retry: "later",
    what: ({ why }) => `The store did not take the operation: ${why}`,
    next: "Try again with the same ids: what was already done is recognised, not repeated",
  }),
  ...storeErrors,
  STORE_BUSY: define<{ queued: number }>({
    retry: "later",
    what: ({ queued }) => `The store has ${queued} operations waiting and takes no more for now`,
    next: "Slow down and try again; nothing of this call was stored",
  }),
  STORE_LOCKED: define<{ path: string; forMs: number }>({
    retry: "later",
    what: ({ path, forMs }) => `Another program has kept the store ${path} locked for ${forMs} ms`,
    next: "Nothing of this call was stored; try again. Idem goes on by itself once the lock is gone: end the tool that has an open write transaction on the file",
  }),
  STORE_FULL: define<{ path: string; forMs: number }>({
    retry: "later",
    what: ({ path, forMs }) => `The disk of the store ${path} has been full for ${forMs} ms`,
    next: "Nothing of this call was stored; make room and try again. Idem goes on by itself once there is some",
  }),
  STORE_BROKEN: define<{ path: string; why: string }>({
    retry: "after-fix",
    what: ({ path, why }) => `The store ${path} was closed because its disk can no longer be trusted: ${why}`,
    next: "Look after the disk, then stop this client and start it again, or start the process again. What was acknowledged is stored; what was not may be: repeat it with the same ids",
  }),
  STORE_FILE_GONE: define<{ path: string; what: string; where: string }>({
    retry: "after-fix",
    what: ({ path, what, where }) => `The store ${path} was closed because ${what}; ${where}`,
    next: "Stop this process, put the copy in the store's place (idem restore <copy> --store sqlite:<file> --force), and start again",
  }),
  STORE_URL_INVALID: define<{ url: string; why: string }>({
    retry: "after-fix",
    what: ({ url, why }) => `"${url}" does not name a store: ${why}`,
    next: 'Use "sqlite:./path/to/file.db", "postgres://user@host/database" or "memory:"',
  }),
  // -- idem/http, idem/webhooks, idem/toolkit: the user's own database and API --------------------------------------------
  ...toolkitErrors,
} satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof errorTable;
type FactsOf<C extends ErrorCode> = NonNullable<(typeof errorTable)[C]["facts"]>;

/** An error with a code from docs/errors.md. `message` says what happened and what to do next; `facts` holds the parts. */
export class IdemError extends Error {
  override readonly name = "IdemError";
  constructor(
    readonly code: ErrorCode,
    readonly facts: Readonly<Facts>,
    options?: { cause?: unknown },
  ) {
    const { what, next } = errorTable[code];
    const happened = what(facts as never);
    super(`${happened}${happened.endsWith("?") ? "" : "."} ${next}. [${code}]`, options);
  }
  /** The advice, without what happened. */
  get next(): string {
    return errorTable[this.code].next;
  }
  get retry(): Retry {
    return errorTable[this.code].retry;
  }
}

/** The store says that nothing of the call was stored, which is more than that its outcome is unknown. */
export const storedNothing = (error: unknown): boolean =>
  error instanceof IdemError && ["STORE_BUSY", "STORE_LOCKED", "STORE_FULL"].includes(error.code);

/** Of a store that does not answer, or takes nothing for now; every other error is a defect of a caller or of Idem. */
const outageCodes: ReadonlySet<ErrorCode> = new Set([
  "STORE_UNAVAILABLE",
  "STORE_BUSY",
  "STORE_LOCKED",
  "STORE_FULL",
  "STORE_TOO_MANY_SESSIONS",
  "STORE_DURABILITY_LOST",
  "STORE_BROKEN",
  "STORE_FILE_GONE",
]);

/** Whether a call failed because of the store, whatever the call was. */
export const isStoreOutage = (error: unknown): boolean =>
  error instanceof IdemError && outageCodes.has(error.code) && error.facts.isReachable !== true;

type Raise = { [C in ErrorCode]: (facts: FactsOf<C>, options?: { cause?: unknown }) => IdemError };

/** `throw errors.RUN_UNKNOWN({ runId })` */
export const errors: Raise = Object.fromEntries(
  Object.keys(errorTable).map((code) => [
    code,
    (facts: Facts, options?: { cause?: unknown }) => new IdemError(code as ErrorCode, facts, options),
  ]),
) as unknown as Raise;
