// Every error Idem raises, in one table: what happened to which thing, what to do next, and whether trying again can help.
// docs/errors.md lists the same codes; tidy.test.ts compares the two.

import { define, type ErrorDefinition, type Facts, type Retry } from "./error-definition.ts";
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
  STEP_INVALID: define<{ step: string; why: string }>({
    retry: "after-fix",
    what: ({ step, why }) => `Step "${step}" cannot be used this way: ${why}`,
    next: "Correct the call in the function's code; the run continues from its memo when it is run again",
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
  // -- what a run met --------------------------------------------------------------------------------------------------
  RUN_UNKNOWN: define<{ runId: string }>({
    retry: "never",
    what: ({ runId }) => `There is no run ${runId} in this environment`,
    next: "Check the id; runs past their retention are gone",
  }),
  SUBJECT_UNKNOWN: define<{ id: string }>({
    retry: "never",
    what: ({ id }) => `There is no event and no run ${id} in this environment`,
    next: "Check the id; events can be named by their stored id or by the id their sender gave",
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
  RUN_TIMED_OUT: define<{ runId: string; afterMs: number }>({
    retry: "never",
    what: ({ runId, afterMs }) => `Run ${runId} did not end within ${afterMs} ms`,
    next: "Raise timeouts.finish, or find the step that took the time in the run's timeline",
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
  // -- apps reached over a wire ------------------------------------------------------------------------------------------
  REPLY_INVALID: define<{ why: string }>({
    retry: "later",
    what: ({ why }) => `The app's answer to a call cannot be used: ${why}`,
    next: "Check that the URL is the app's own serve handler, of a current SDK; the call is tried again",
  }),
  REPLY_TOO_LARGE: define<{ max: number }>({
    retry: "never",
    what: ({ max }) => `The app's answer to a call is larger than ${max} bytes`,
    next: "Return addresses instead of bodies from steps and functions",
  }),
  RUN_EXISTS: define<{ runId: string }>({
    retry: "never",
    what: ({ runId }) => `There is already a run ${runId}, begun with another request`,
    next: "Begin with an id of its own; an SDK makes a new one for every request it answers",
  }),
  CHECKPOINT_STALE: define<{ runId: string; why: string }>({
    retry: "never",
    what: ({ runId, why }) => `Run ${runId} takes no more steps from this call: ${why}`,
    next: "Stop here; the run goes on elsewhere or has ended, and what was recorded is kept",
  }),
  CLIENT_SERVED: define<{ client: string; server: string }>({
    retry: "after-fix",
    what: ({ client, server }) =>
      `Client "${client}" does not execute functions itself: the server at ${server} calls them`,
    next: "Hand the client to serve() from idem/serve, idem/node, idem/express, …; or leave out `server` and IDEM_SERVER to execute in this process",
  }),
  CLIENT_EMBEDDED: define<{ client: string; why: string }>({
    retry: "after-fix",
    what: ({ client, why }) => `Client "${client}" cannot be served: ${why}`,
    next: "Give serve() a client of its own, without a store; its events, runs and steps are kept by the server",
  }),
  SERVER_UNREACHABLE: define<{ server: string; why: string }>({
    retry: "later",
    what: ({ server, why }) => `The Idem server at ${server} could not be reached: ${why}`,
    next: "Start it (npx idem dev), or correct `server` or IDEM_SERVER; the same call may be made again",
  }),
  SERVER_REFUSED: define<{ what: string; server: string; status: number; why: string }>({
    retry: "after-fix",
    what: ({ what, server, status, why }) => `${what} was refused by the server at ${server} (${status}): ${why}`,
    next: "Correct what the server names; nothing of this call was done",
  }),
  WORKERS_TOO_MANY: define<{ max: number }>({
    retry: "later",
    what: ({ max }) => `This server already holds ${max} connections of workers`,
    next: "Stop workers that are not needed, or give one worker more apps; the SDK tries again by itself",
  }),
  // -- what people ask of the server ---------------------------------------------------------------------------------------
  KEY_UNKNOWN: define<{ scope: string; key: string }>({
    retry: "never",
    what: ({ scope, key }) => `Nobody has the key ${key} in scope ${scope}`,
    next: "Check scope and key; once a window has ended its key may be gone",
  }),
  BULK_UNKNOWN: define<{ id: string }>({
    retry: "never",
    what: ({ id }) => `There is no bulk work ${id} in this environment`,
    next: "Check the id; bulk work is remembered for 7 days",
  }),
  BULK_MISMATCH: define<{ id: string }>({
    retry: "after-fix",
    what: ({ id }) => `Bulk work ${id} was asked for before, with another action or filter`,
    next: "Use a new id for new work; the work under this id goes on as it was first asked for",
  }),
  APP_URL_REFUSED: define<{ url: string; why: string }>({
    retry: "after-fix",
    what: ({ url, why }) => `The app's URL ${url} is refused: ${why}`,
    next: "Serve the app at a public http or https address, or name its host when the server is started: --allow-host app.internal:3000",
  }),
  APP_SYNC_FAILED: define<{ url: string; why: string }>({
    retry: "later",
    what: ({ url, why }) => `The app at ${url} could not be synced: ${why}`,
    next: "Check that the app runs and that this is the URL of its serve handler; functions it registered before stay as they were",
  }),
  SERVER_KIND_MISMATCH: define<{ expected: string; kind: string }>({
    retry: "after-fix",
    what: ({ expected, kind }) => `The app expects a server of kind "${expected}", and this one is "${kind}"`,
    next: "Set INNGEST_DEV=1 in the app to use it with idem dev, INNGEST_DEV=0 and both keys to use it with idem start",
  }),
  // -- requests to the server --------------------------------------------------------------------------------------------
  REQUEST_INVALID: define<{ why: string }>({
    retry: "after-fix",
    what: ({ why }) => `The request cannot be understood: ${why}`,
    next: "Correct the request; nothing was done",
  }),
  BODY_INVALID: define<{ why: string }>({
    retry: "after-fix",
    what: ({ why }) => `The request's body cannot be read: ${why}`,
    next: "Send the body as JSON in UTF-8; nothing was done",
  }),
  BODY_TOO_LARGE: define<{ max: number }>({
    retry: "after-fix",
    what: ({ max }) => `The request's body is larger than the ${max} bytes this route takes`,
    next: "Send less at once, or store the large part elsewhere and send its address; nothing was done",
  }),
  CONTENT_TYPE_UNSUPPORTED: define<{ given: string; taken: string }>({
    retry: "after-fix",
    what: ({ given, taken }) => `The request's body is said to be ${given}; this route takes ${taken}`,
    next: "Set the Content-Type header to what the body is (curl -d needs -H 'content-type: application/json'); nothing was done",
  }),
  ENCODING_UNSUPPORTED: define<{ given: string }>({
    retry: "after-fix",
    what: ({ given }) => `The request's body is encoded as ${given}, which is not known here`,
    next: "Send it plain, or compressed once with gzip, deflate or br; nothing was done",
  }),
  ROUTE_UNKNOWN: define<{ method: string; path: string }>({
    retry: "after-fix",
    what: ({ method, path }) => `There is nothing at ${method} ${path}`,
    next: "Check the path; /api/openapi.json lists what there is",
  }),
  METHOD_UNSUPPORTED: define<{ method: string; allowed: string }>({
    retry: "after-fix",
    what: ({ method, allowed }) => `This path takes ${allowed}, not ${method}`,
    next: "Use one of those methods; nothing was done",
  }),
  UNAUTHORIZED: define<{ why: string }>({
    retry: "after-fix",
    what: ({ why }) => `The request is not allowed: ${why}`,
    next: "Check the key given to the app or the tool against the keys this server was started with; nothing was done",
  }),
  SIGN_IN_REFUSED: define<{ left: number; minutes: number }>({
    retry: "after-fix",
    what: ({ left, minutes }) =>
      left === 0
        ? `Wrong password. Wait ${minutes} minute before the next try`
        : `Wrong password. ${left} ${left === 1 ? "try" : "tries"} left, then wait ${minutes} minute`,
    next: "Check the password against IDEM_PASSWORD or IDEM_VIEWER_PASSWORD of this server, or against the secret its first start showed; idem start --new-secret makes another",
  }),
  SIGN_IN_LIMITED: define<{ seconds: number }>({
    retry: "later",
    what: ({ seconds }) => `Too many wrong passwords. Wait ${seconds} seconds`,
    next: "Wait as long as Retry-After says; the password was not looked at",
  }),
  CSRF_REFUSED: define<{ why: string }>({
    retry: "after-fix",
    what: ({ why }) => `The request is refused: its X-Idem-CSRF header ${why}`,
    next: "Send the csrf of GET /api/session with everything that changes something; nothing was done",
  }),
  FORBIDDEN_ROLE: define<{ role: string }>({
    retry: "after-fix",
    what: ({ role }) => `Your role, ${role}, can look but not act`,
    next: "Sign in with the operators' password to act; nothing was done",
  }),
  ORIGIN_REFUSED: define<{ why: string }>({
    retry: "never",
    what: ({ why }) => `The request is refused: ${why}`,
    next: "Call the server by the address it listens on; pages of other sites may not call it",
  }),
  DASHBOARD_CLOSED: define<{ why: string }>({
    retry: "after-fix",
    what: ({ why }) => `The dashboard is closed: ${why}`,
    next: "Give idem.dashboard() an `authorize` that says who may look and who may act; without one it answers only requests of its own machine, in development",
  }),
  DASHBOARD_REFUSED: define<{ client: string }>({
    retry: "after-fix",
    what: ({ client }) => `The dashboard of "${client}" is not open to you`,
    next: "Sign in to the application it is mounted in, as someone its `authorize` lets in; nothing was done",
  }),
  DASHBOARD_ELSEWHERE: define<{ client: string; server: string }>({
    retry: "after-fix",
    what: ({ client, server }) =>
      `Client "${client}" has no dashboard of its own: its events and runs are at ${server}`,
    next: "Open that address in a browser; or leave out `server` and IDEM_SERVER to keep events and runs in this process",
  }),
  SERVER_ONLY: define<{ method: string; path: string }>({
    retry: "never",
    what: ({ method, path }) => `${method} ${path} is not answered beside an embedded engine`,
    next: "Do it in the program that embeds the engine, or run a server of its own with idem dev or idem start; nothing was done",
  }),
  SERVER_BUSY: define<{ why: string }>({
    retry: "later",
    what: ({ why }) => `The server takes no more requests for now: ${why}`,
    next: "Wait as long as Retry-After says and send the same request again; nothing was done",
  }),
  OTHER_NODE: define<{ why: string }>({
    retry: "later",
    what: ({ why }) => `Another node has to answer this: ${why}`,
    next: "Send the same request again, so that it may reach that node; nothing was done here",
  }),
  SERVER_FAILED: define<{ id: string }>({
    retry: "later",
    what: ({ id }) => `Something went wrong in the server while it answered request ${id}`,
    next: "The server's log has the reason beside that id; sending the same request again is safe",
  }),
  PORT_TAKEN: define<{ host: string; port: number }>({
    retry: "after-fix",
    what: ({ host, port }) => `Another program listens on ${host}:${port}`,
    next: "Stop it, or choose another port with --port; --port 0 takes any free one",
  }),
  LISTEN_FAILED: define<{ host: string; port: number; why: string }>({
    retry: "after-fix",
    what: ({ host, port, why }) => `The server cannot listen on ${host}:${port}: ${why}`,
    next: "Choose an address of this machine with --host, and a port this user may use with --port",
  }),
  KEYS_MISSING: define<{ missing: string }>({
    retry: "after-fix",
    what: ({ missing }) => `The server does not start without ${missing}`,
    next: "Set IDEM_EVENT_KEY and IDEM_SIGNING_KEY (or --event-key and --signing-key), each made with: openssl rand -hex 32",
  }),
  KEY_INVALID: define<{ which: string; why: string }>({
    retry: "after-fix",
    what: ({ which, why }) => `The ${which} cannot be used: ${why}`,
    next: "Make one with: openssl rand -hex 32",
  }),
  PASSWORD_MISSING: define<{ host: string }>({
    retry: "after-fix",
    what: ({ host }) =>
      `The server does not listen on ${host}, beyond this machine, without a password for its operators`,
    next: "Set IDEM_PASSWORD (or --password), or listen on 127.0.0.1",
  }),
  // -- where facts live --------------------------------------------------------------------------------------------------
  STORE_OWNED: define<{ path: string; owner: string }>({
    retry: "later",
    what: ({ path, owner }) => `The store ${path} is in use by ${owner}`,
    next: "One process owns a SQLite file. Stop the other one, or run web and worker processes on PostgreSQL or beside an Idem server",
  }),
  STORE_NEWER: define<{ path: string; found: number; known: number }>({
    retry: "after-fix",
    what: ({ path, found, known }) =>
      `The store ${path} has schema version ${found}; this version of Idem knows up to ${known}`,
    next: "Upgrade Idem on this machine; nothing was changed in the store",
  }),
  STORE_NOT_DURABLE: define<{ path: string; why: string }>({
    retry: "after-fix",
    what: ({ path, why }) => `The store ${path} cannot promise durability: ${why}`,
    next: "Move a file to a local disk with a current SQLite, or change the server's setting; Idem does not start on a store that may lose commits",
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
  STORE_UNAVAILABLE: define<{ why: string }>({
    retry: "later",
    what: ({ why }) => `The store did not take the operation: ${why}`,
    next: "Try again with the same ids: what was already done is recognised, not repeated",
  }),
  STORE_BUSY: define<{ queued: number }>({
    retry: "later",
    what: ({ queued }) => `The store has ${queued} operations waiting and takes no more for now`,
    next: "Slow down and try again; nothing of this call was stored",
  }),
  STORE_URL_INVALID: define<{ url: string; why: string }>({
    retry: "after-fix",
    what: ({ url, why }) => `"${url}" does not name a store: ${why}`,
    next: 'Use "sqlite:./path/to/file.db", "postgres://user@host/database" or "memory:"',
  }),
  // -- idem/http, idem/webhooks, idem/toolkit: the user's own database and doors --------------------------------------------
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
    super(`${what(facts)}. ${next}. [${code}]`, options);
  }
  /** What to do about it, without what happened. */
  get next(): string {
    return errorTable[this.code].next;
  }
  get retry(): Retry {
    return errorTable[this.code].retry;
  }
}

type Raise = { [C in ErrorCode]: (facts: FactsOf<C>, options?: { cause?: unknown }) => IdemError };

/** `throw errors.RUN_UNKNOWN({ runId })` */
export const errors: Raise = Object.fromEntries(
  Object.keys(errorTable).map((code) => [
    code,
    (facts: Facts, options?: { cause?: unknown }) => new IdemError(code as ErrorCode, facts, options),
  ]),
) as unknown as Raise;
