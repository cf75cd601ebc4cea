// Errors of the toolkit: idem/http, idem/webhooks, idem/toolkit and the databases behind them.
import { define, type ErrorDefinition } from "./error-definition.ts";

export const toolkitErrors = {
  COMMIT_UNKNOWN: define<{ why: string }>({
    retry: "later",
    what: ({ why }) =>
      `The connection was lost while the transaction was committed, so nobody knows whether it was: ${why}`,
    next: "Ask again with the same key: what was committed is found, what was not is done",
  }),
  TRANSACTION_ABORTED: define<{ why: string }>({
    retry: "after-fix",
    what: ({ why }) => `A statement of the transaction failed and its body went on, so nothing was committed: ${why}`,
    next: "Let the body throw what the statement threw, or use a savepoint around it",
  }),
  TRANSACTION_ASYNC: define<{ call: string }>({
    retry: "after-fix",
    what: ({ call }) => `${call} was given an async function, and this driver's transactions end at the first await`,
    next: "Make the body synchronous, or read before the transaction and write in it; nothing was written",
  }),
  TRANSACTION_OPEN: define<Record<never, never>>({
    retry: "after-fix",
    what: () => "The connection to SQLite has a transaction open, and what was asked would have become part of it",
    next: "Hand over that transaction, or give the toolkit a connection of its own; nothing was done",
  }),
  TABLES_MISSING: define<{ tables: string }>({
    retry: "after-fix",
    what: ({ tables }) => `The database has no table ${tables}, or not where this role looks for it`,
    next: "Run what `npx idem sql` prints: `npx idem sql | psql …`, for SQLite `npx idem sql --dialect sqlite | sqlite3 …`",
  }),
  TABLES_OUTDATED: define<{ tables: string }>({
    retry: "after-fix",
    what: ({ tables }) => `A table is older than this version of Idem: ${tables}`,
    next: "Run what `npx idem sql` prints: `npx idem sql | psql …`, for SQLite `npx idem sql --dialect sqlite | sqlite3 …`",
  }),
  TABLES_NOT_CARRIED: define<{ tables: string }>({
    retry: "after-fix",
    what: ({ tables }) => `The rows of ${tables} belong into idem_claims now, and were not brought there yet`,
    next: "Stop the processes of earlier builds, then call `ensureTables(adapter)` once, as a role that may make and drop tables: it brings the rows over and drops what they were in, in one transaction",
  }),
  TABLES_UNRECORDED: define<{ tables: string }>({
    retry: "after-fix",
    what: ({ tables }) => `The database does not say by which build its tables were made: ${tables}`,
    next: "Call `ensureTables(adapter)` once, as a role that may change them: it recognises what earlier builds made, and refuses what it does not know",
  }),
  TABLES_DIFFER: define<{ table: string; why: string }>({
    retry: "after-fix",
    what: ({ table, why }) => `The table ${table} is none that this Idem makes: ${why}`,
    next: "Compare it with what `npx idem sql` prints, and change back what was changed or added by hand, or use the build that made it. Nothing was changed",
  }),
  TOOLKIT_OPTION_INVALID: define<{ call: string; option: string; why: string }>({
    retry: "after-fix",
    what: ({ call, option, why }) => `${call}: the option ${option} cannot be used: ${why}`,
    next: "Correct the option; nothing was done",
  }),
  REQUEST_UNANSWERED: define<{ url: string; attempts: number }>({
    retry: "later",
    what: ({ url, attempts }) =>
      `${url} was asked ${attempts} times and did not answer, so what became of it is unknown`,
    next: "Ask again with the same key while the server remembers it, or look for what the request would have made",
  }),
  TRANSACTION_TOO_LONG: define<{ ms: number; max: number }>({
    retry: "after-fix",
    what: ({ ms, max }) => `The transaction was open for ${ms} ms, longer than the ${max} it may take, and was undone`,
    next: "Move what is not in this database out of the body (an effect, the outbox), or raise maxTx",
  }),
  PHASES_INVALID: define<{ phases: string; why: string }>({
    retry: "after-fix",
    what: ({ phases, why }) => `The phases "${phases}" cannot be used: ${why}`,
    next: "Correct the list; names of phases are permanent, for unfinished records know them",
  }),
  ROW_CONTENDED: define<{ table: string }>({
    retry: "later",
    what: ({ table }) => `A row of ${table} was added and deleted by others three times while this call looked for it`,
    next: "Do the whole transaction again",
  }),
  UNIQUE_INDEX_MISSING: define<{ table: string; columns: string }>({
    retry: "after-fix",
    what: ({ table, columns }) =>
      `Nothing makes ${columns} unique in ${table}, so two callers could both create the row`,
    next: "Create a unique index on exactly these columns, without a where clause; nothing was written",
  }),
  LOCK_LOST: define<{ name: string }>({
    retry: "later",
    what: ({ name }) =>
      `The lease on "${name}" ended while it was being worked under, and somebody else may have it now`,
    next: "Stop writing; do the whole again under a new lease, beginning with the check",
  }),
  REMOTE_UNSETTLED: define<{ kind: string; retryAfterMs: number }>({
    retry: "later",
    what: ({ kind, retryAfterMs }) =>
      `A ${kind} may have been created a moment ago, and its system's search cannot be trusted for another ${retryAfterMs} ms`,
    next: "Ask again then: what was created is found, what was not is created",
  }),
  KEY_STORE_UNAVAILABLE: define<{ why: string }>({
    retry: "later",
    what: ({ why }) => `The store of idempotency keys could not be asked: ${why}`,
    next: "Ask again with the same key; without a claim nothing was executed",
  }),
  STORE_ELSEWHERE: define<{ client: string; server: string }>({
    retry: "after-fix",
    what: ({ client, server }) =>
      `Client "${client}" has no store to keep idempotency keys in: its store is at the server ${server}`,
    next: "Give engineKeys() a client without `server` and IDEM_SERVER, or keep keys in a database of your own with sqlKeys()",
  }),
  DESTINATION_KEYLESS: define<{ destination: string; instead: string }>({
    retry: "after-fix",
    what: ({ destination, instead }) => `${destination} takes no idempotency key, so there is none to send; ${instead}`,
    next: "Use step.effect with a reconcile function that looks the effect up, or the sent-log",
  }),
  OUTCOME_UNKNOWN: define<{ effect: string; since: number; why: string }>({
    retry: "after-fix",
    what: ({ effect, since, why }) =>
      `Nobody knows whether the effect ${effect} happened: it was first tried at ${new Date(since).toISOString()}, and ${why}`,
    next: "Look at the destination, settle it with `idem effects resolve`, and rerun from the step; it is not sent again by itself",
  }),
  EFFECT_IN_FLIGHT: define<{ effect: string }>({
    retry: "later",
    what: ({ effect }) => `The effect ${effect} is being sent by another run`,
    next: "Nothing: it is asked for again, and then has that run's outcome",
  }),
  EFFECT_TOO_LARGE: define<{ effect: string; receipt: string | null; why: string }>({
    retry: "after-fix",
    what: ({ effect, receipt, why }) =>
      `The effect ${effect} happened${receipt === null ? "" : ` (receipt ${receipt})`}, but its value cannot be kept: ${why}`,
    next: "Return less from the callback, its id say; it is recorded as sent, and is not sent again",
  }),
  EFFECT_UNSUPPORTED: define<{ call: string }>({
    retry: "after-fix",
    what: ({ call }) => `${call} needs the engine's store in the same process, and this client's is at a server`,
    next: "Use step.run with destination(…).headers there, or execute the function where the store is",
  }),
  EFFECT_UNKNOWN: define<{ effect: string }>({
    retry: "never",
    what: ({ effect }) => `There is no effect "${effect}" in this environment`,
    next: "Take the id from idem.effects.list() or `idem effects`; effects are kept for a year",
  }),
  EFFECT_NOT_OPEN: define<{ effect: string; why: string }>({
    retry: "after-fix",
    what: ({ effect, why }) => `The effect ${effect} is not for a person to settle: ${why}`,
    next: "Only an effect whose outcome is unknown can be settled by hand; look at it again with `idem effects`",
  }),
  BODY_ALREADY_READ: define<{ method: string }>({
    retry: "after-fix",
    what: ({ method }) =>
      `The body of this ${method} request was read before its idempotency key was, and its bytes were not kept`,
    next: "Put idempotent before the body parser, or give the parser `verify: keepRawBody`; nothing was executed",
  }),
  SOURCE_UNKNOWN: define<{ source: string }>({
    retry: "after-fix",
    what: ({ source }) => `There is no source of webhooks named "${source}" in this environment`,
    next: "Check the address given to the provider, or make the source: idem webhooks add <name> --provider <provider>",
  }),
  ALERT_UNKNOWN: define<{ alert: string }>({
    retry: "never",
    what: ({ alert }) => `There is no alert "${alert}" in this environment`,
    next: "List the alerts: idem radar, or GET /api/radar/alerts",
  }),
  ALERT_CLOSED: define<{ alert: string }>({
    retry: "never",
    what: ({ alert }) => `Alert "${alert}" is closed`,
    next: "Nothing is left to do; what happens next opens another alert",
  }),
  RULE_UNKNOWN: define<{ rule: string }>({
    retry: "after-fix",
    what: ({ rule }) => `There is no rule "${rule}" in this environment`,
    next: "List the rules: GET /api/radar/rules",
  }),
  RULE_KEPT: define<{ rule: string }>({
    retry: "never",
    what: ({ rule }) => `The rule "${rule}" watches every function and cannot be removed`,
    next: 'Mute it: PUT /api/radar/rules/default with { "muted": true, "reason": … }',
  }),
  CHANNEL_UNKNOWN: define<{ channel: string }>({
    retry: "after-fix",
    what: ({ channel }) => `There is no channel "${channel}" for alerts in this environment`,
    next: "List the channels: idem radar --channels, or GET /api/radar/channels",
  }),
  SOURCE_TAKEN: define<{ source: string }>({
    retry: "after-fix",
    what: ({ source }) => `There is already a source of webhooks named "${source}"`,
    next: "Choose another name, add a secret to the one there is (idem webhooks rotate), or remove it first",
  }),
  SOURCE_CHANGED: define<{ source: string }>({
    retry: "later",
    what: ({ source }) => `The source of webhooks "${source}" was changed by somebody else meanwhile`,
    next: "Look at it again and repeat the change; nothing was done",
  }),
  TICK_IN_FLIGHT: define<{ schedule: string; at: string }>({
    retry: "later",
    what: ({ schedule, at }) => `The tick of "${schedule}" at ${at} is being run by another call`,
    next: "Nothing to do: that call runs it; ask again later to hear its outcome",
  }),
  TICK_PARKED: define<{ schedule: string; at: string }>({
    retry: "never",
    what: ({ schedule, at }) =>
      `The first call for the tick of "${schedule}" at ${at} died, and nobody knows how far it came`,
    next: 'Find out, then call resolve(at, "done") or resolve(at, "resume") of its cronTick',
  }),
} satisfies Record<string, ErrorDefinition>;
