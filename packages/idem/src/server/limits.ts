// Every bound of the server, each with its reason.

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;

export const serverLimits = {
  // Beyond it a client waits longer in line than it would wait before it tries again.
  requestsInFlight: 2_000,
  // Of those who have shown nothing: whatever they ask for, half of the places stay for others.
  strangersInFlight: 1_000,
  // Long polls and streams cost a socket and little else; they must not take the slots of those who want an answer now.
  waitingRequests: 5_000,
  // Of them, those of one caller with a credential: half of the places stay for others.
  waitingPerPrincipal: 2_500,
  // Those whose credential is a token in the address, which may be in a browser: counted apart, so that publishing, examining and backing up
  // never wait for subscribers.
  waitingStrangers: 4_000,
  // Of them, those with one token: a page that many people have open may share one.
  waitingPerToken: 500,
  // Bodies held at the same time, of all requests together: 5,000 full ones would be gigabytes.
  bodyBytesHeld: 256 * mebibyte,
  // Of them, what holders of event keys and strangers may have: the rest stays for those with credentials.
  senderBodyBytesHeld: 128 * mebibyte,
  strangerBodyBytesHeld: 64 * mebibyte,
  // Bodies on their way, by what their senders have shown; one address has half of what there is for event keys and strangers. A body takes
  // milliseconds to arrive, so one that is pushed out by others that come after has sent nothing for long.
  bodies: 2_000,
  senderBodies: 2_000,
  senderBodiesPerAddress: 1_000,
  strangerBodies: 1_000,
  strangerBodiesPerAddress: 500,
  connections: 10_000,
  connectionsPerAddress: 5_000,
  // Requests on lines on which nothing was shown yet, of each turn of the loop: 4 ms (entrance.ts).
  strangersPerTurn: 50,
  // While lines are being opened, of which Node accepts one in each turn: each brings about one request.
  strangersPerTurnWhileOpening: 2,
  // Costly work (expressions over rows, large bodies) gives way to lines that are being opened: then a piece of it, of 5 ms, has its turn.
  giveWayMs: 20,
  // From here on bodies are made something of one at a time.
  largeBodyBytes: 4 * kibibyte,
  // Accepted by the machine before we have: Linux has at most 4,096 for itself. Beyond it a caller is heard again a second later.
  backlog: 4_096,
  // Upgraded to WebSockets, of each path that does: subscribers do not take the workers' places.
  sockets: 5_000,
  headerBytes: 16 * kibibyte,
  headersMs: 10_000,
  // A sender that needs longer for one body is broken or wishes us ill; routes that stream are not asked.
  bodyMs: 30_000,
  // Webhooks come from data centres, and a password is a line; nobody knows yet who this is.
  strangerBodyMs: 10_000,
  // The longest stream an app may publish in one request (Node cuts every request there).
  requestMs: 10 * 60_000,
  // Longer than the minute after which load balancers let go, so that they do first and no request falls between.
  keepAliveMs: 72_000,
  // A socket on which nothing moved for so long: neither reads nor answers.
  silentMs: 120_000,
  // Long polls are answered within 5 minutes (endpoints/limits.ts), streams say something more often than that.
  silentWaitingMs: 6 * 60_000,
  // A refused body is thrown away for this long before the line is cut: an answer sent into a full line is lost.
  lingerMs: 2_000,
  // So often it is looked who is too slow.
  lookMs: 1_000,
  stopGraceMs: 10_000,
  // Work over rows (expressions, payloads) that a request for a page may cost, in milliseconds of an idle machine, 5 at a time. Then it
  // answers with what it found and where to go on.
  requestCostMs: 200,
  // The same after so long by the clock: where many look at once, or the machine is busy, their turns come seldom.
  requestWaitMs: 5_000,
  // Each environment has an engine of its own, with its timers; names come from a header in dev.
  environments: 100,
} as const;

export type ServerLimits = { readonly [K in keyof typeof serverLimits]: number };
