// Every bound of the server, each with its reason.

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;

export const serverLimits = {
  // Beyond it a client waits longer in line than it would wait before it tries again.
  requestsInFlight: 2_000,
  // Long polls and streams cost a socket and little else; they must not take the slots of those who want an answer now.
  waitingRequests: 5_000,
  // Bodies held at the same time, of all requests together: 5,000 full ones would be gigabytes.
  bodyBytesHeld: 256 * mebibyte,
  connections: 10_000,
  // Upgraded to WebSockets.
  sockets: 5_000,
  headerBytes: 16 * kibibyte,
  headersMs: 10_000,
  // Whoever needs longer for one body, at 30 s, is broken or wishes us ill; routes that stream are not asked.
  bodyMs: 30_000,
  // The longest stream an app may publish in one request (Node cuts every request there).
  requestMs: 10 * 60_000,
  // Longer than the minute after which load balancers let go, so that they do first and no request falls between.
  keepAliveMs: 72_000,
  // A socket on which nothing moved for so long: neither reads nor answers.
  silentMs: 120_000,
  // Long polls are answered within 5 minutes (wire page §13.5), streams say something more often than that.
  silentWaitingMs: 6 * 60_000,
  // How long a refused body is thrown away before the line is cut: an answer sent into a full line is lost.
  lingerMs: 2_000,
  // So often it is looked who is too slow.
  lookMs: 1_000,
  stopGraceMs: 10_000,
  // Each environment has an engine of its own, with its timers; names come from a header in dev.
  environments: 100,
} as const;

export type ServerLimits = { readonly [K in keyof typeof serverLimits]: number };
