// Errors of the server: apps it calls, people who ask it to act, and requests it refuses.
import { define, type ErrorDefinition } from "./error-definition.ts";

export const serverErrors = {
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
  CALL_STALE: define<{ runId: string; why: string }>({
    retry: "later",
    what: ({ runId, why }) => `A call of run ${runId} was not executed: ${why}`,
    next: "Nothing to do; the server makes a new call",
  }),
  CALL_MISDIRECTED: define<{ runId: string; what: string; requested: string; signed: string }>({
    retry: "after-fix",
    what: ({ runId, what, requested, signed }) =>
      `A call of run ${runId} was not executed: its address names the ${what} "${requested}", its signed body "${signed}"`,
    next: "Let proxies pass on the query of calls unchanged",
  }),
  CLIENT_SERVED: define<{ client: string; server: string }>({
    retry: "after-fix",
    what: ({ client, server }) =>
      `Client "${client}" does not execute functions itself: the server at ${server} calls them`,
    next: "Hand the client to serve() from idem/serve, idem/node, idem/express, …; or leave out `server` and IDEM_SERVER to execute in this process",
  }),
  CLIENT_STARTED: define<{ client: string }>({
    retry: "after-fix",
    what: ({ client }) => `Client "${client}" is started: what is due is done by it, and there is nothing to sweep`,
    next: "Call sweep() where no process stays, and start() where one does; not both in one client",
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
  SDK_VERSION_UNSUPPORTED: define<{ app: string; version: string; oldest: string }>({
    retry: "after-fix",
    what: ({ app, version, oldest }) =>
      `App "${app}" cannot be registered: it uses inngest ${version}, and Idem supports ${oldest} and newer`,
    next: "Run npm install inngest@latest in the app; functions it registered before stay as they were",
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
  BODY_TOO_LARGE: define<{ max: number; sent?: number }>({
    retry: "after-fix",
    what: ({ max, sent }) =>
      `The request's body is larger than the ${max} bytes ${sent === undefined ? "this route takes" : `that ${sent} compressed ones may become here`}`,
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
  API_UNSUPPORTED: define<{ method: string; path: string; api: string; instead: string }>({
    retry: "after-fix",
    what: ({ method, path, api, instead }) =>
      `${method} ${path} belongs to ${api}, which Idem does not serve: use ${instead}`,
    next: "Call the route that the message names; /api/openapi.json describes all routes of /api",
  }),
  ENV_UNKNOWN: define<{ env: string }>({
    retry: "after-fix",
    what: ({ env }) => `There is no environment "${env}" here`,
    next: "Check its name; an environment comes to be with its first app, event or key",
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
    what: ({ seconds }) => `Too many tries to sign in. Wait ${seconds} seconds`,
    next: "Wait as long as Retry-After says; what was typed was not compared with a password it may be guessed at",
  }),
  CSRF_REFUSED: define<{ why: string }>({
    retry: "after-fix",
    what: ({ why }) => `The request is refused: its X-Idem-CSRF header ${why}`,
    next: "Send the csrf of GET /api/session with everything that changes something; nothing was done",
  }),
  FORBIDDEN_ROLE: define<{ role: string }>({
    retry: "after-fix",
    what: ({ role }) => `Your role, ${role}, can look but not act`,
    next: "Nothing was done. Who runs this server, or the application it is mounted in, can give you the role of an operator",
  }),
  STORE_NOT_BESIDE: define<{ store: string }>({
    retry: "never",
    what: ({ store }) => `The store ${store} is in the memory of its server, where no command can read it`,
    next: "Give the server a store that stays, with --store sqlite:… or postgres://…; nothing was done",
  }),
  COMMAND_FAILED: define<{ command: string; why: string }>({
    retry: "after-fix",
    what: ({ command, why }) =>
      `\`${command}\`, which the server started beside its store, did not get to its end: ${why}`,
    next: "Put right what it says, where the server runs",
  }),
  BACKUP_NOT_HERE: define<{ store: string }>({
    retry: "never",
    what: ({ store }) => `The server has ${store}, and what is copied through it is a SQLite file`,
    next: "Copy the database with pg_dump, beside it: docs/postgres.md has the commands",
  }),
  BACKUP_UNKNOWN: define<{ id: string }>({
    retry: "never",
    what: ({ id }) => `There is no copy of the store with the id "${id}" here`,
    next: "Make another with POST /api/backup; a copy is kept for ten minutes after the last part of it was fetched",
  }),
  BACKUP_OF_OTHERS: define<{ env: string }>({
    retry: "after-fix",
    what: ({ env }) => `A backup has every environment of the store, and who asks may see "${env}" alone`,
    next: "Ask with the operator's password (IDEM_PASSWORD, without IDEM_SIGNING_KEY), or run idem backup beside the store",
  }),
  ORIGIN_REFUSED: define<{ why: string }>({
    retry: "never",
    what: ({ why }) => `The request is refused: ${why}`,
    next: "Call the server by the address it listens on; pages of other sites may not call it",
  }),
  APP_CALL_REFUSED: define<{ why: string }>({
    retry: "after-fix",
    what: ({ why }) => `An unsigned call is refused: ${why}`,
    next: "Set IDEM_SIGNING_KEY to the server's, or name the host in IDEM_DEV_HOSTS where only your own machines reach it",
  }),
  DASHBOARD_CLOSED: define<{ why: string }>({
    retry: "after-fix",
    what: ({ why }) => `The dashboard is closed: ${why}`,
    next: 'Write idem.dashboard({ authorize: (request) => … }) with a function that answers "operator", "viewer" or null; or, on the machine you develop on and nowhere else, idem.dashboard({ dev: true })',
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
  EVENT_QUOTA_REACHED: define<{ kind: string; max: number; window: number; seconds: number }>({
    retry: "later",
    what: ({ kind, max, window }) => `More than ${max} ${kind} in ${window} s were sent with this event key`,
    next: "Wait as long as Retry-After says and send the same request again, nothing was stored; --event-quota raises it",
  }),
  SERVER_BUSY: define<{ why: string }>({
    retry: "later",
    what: ({ why }) => `The server takes no more requests for now: ${why}`,
    next: "Wait as long as Retry-After says and send the same request again; nothing was done",
  }),
  WRONG_ROLE: define<{ role: string; why: string }>({
    retry: "later",
    what: ({ role, why }) => `This node has the role ${role}: ${why}`,
    next: "Give the load balancer the nodes that may answer it; sent again it may reach one of them, nothing was done here",
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
    next: "Set IDEM_EVENT_KEY and IDEM_SIGNING_KEY (or --event-key and --signing-key); idem secret make prints good ones",
  }),
  KEY_INVALID: define<{ which: string; why: string }>({
    retry: "after-fix",
    what: ({ which, why }) => `The ${which} cannot be used: ${why}`,
    next: "Make a good one with: idem secret make signing-key (or event-key)",
  }),
  SECRET_WEAK: define<{ which: string; kind: string; why: string }>({
    retry: "after-fix",
    what: ({ which, kind, why }) =>
      `The ${which} can be guessed: ${why}. This prints a good one: idem secret make ${kind}`,
    next: "Set it to what that command prints; nothing was started",
  }),
  DEV_EXPOSED: define<{ host: string }>({
    retry: "after-fix",
    what: ({ host }) =>
      `A server in dev does not listen on ${host}, beyond this machine: it asks nobody for a key, so whoever reaches it could do everything`,
    next: "Listen on 127.0.0.1, or use idem start; --anyone-may-act listens there all the same, for a container whose port only you reach",
  }),
  PASSWORD_MISSING: define<{ host: string }>({
    retry: "after-fix",
    what: ({ host }) =>
      `The server does not listen on ${host}, beyond this machine, without a password for its operators`,
    next: "Set IDEM_PASSWORD (or --password) to what idem secret make password prints, or listen on 127.0.0.1",
  }),
} satisfies Record<string, ErrorDefinition>;
