// Timeouts between gateway and workers, and bounds.

const mebibyte = 1024 * 1024;

export const connectLimits = {
  // The SDK gives a handshake 10 s in all; ours ends with it.
  handshakeMs: 10_000,
  // From the answer of /v0/connect/start to the worker's own greeting: it connects at once.
  sessionTokenMs: 60_000,
  heartbeatMs: 10_000,
  heartbeatsMissedMax: 5,
  statusMs: 10_000,
  // Acknowledging runs no user code. Where another worker is free, a silent one has lost its turn after this.
  ackMs: 5_000,
  extendLeaseMs: 2_000,
  // Long for a worker whose code blocks its event loop: giving up too early runs a step twice, too late only costs time. A
  // worker that died is noticed by its closed socket.
  leaseMs: 60_000,
  // A worker that only lost its line reconnects at once, or 2 s later when that failed (SDK 4.24), and then says within one
  // interval what it still works on. One that is silent for longer is taken for dead.
  orphanMs: 5_000,
  // The same where it may reconnect to another node: that it did is known here by a letter, within a second or two.
  orphanElsewhereMs: 8_000,
  // It says so every extendLeaseMs, and that has to come by letter each time.
  extendedElsewhereMs: 15_000,
  // The caller holds a place among the runs in flight meanwhile: enough for a worker that restarts.
  noWorkerMs: 5_000,
  allBusyMs: 30_000,
  callsWaitingMax: 10_000,
  connectionsMax: 1_000,
  // Sockets of which nobody knows whose they are: neither has /v0/connect/start sent them here, nor have they greeted. The oldest goes for the
  // next; one address has half of them. Workers of the SDK come with the ticket of their start and are not among them.
  strangersMax: 200,
  strangersPerAddressMax: 100,
  greetingBytesMax: 4 * mebibyte,
  // Of all strangers together.
  greetingBytesTotalMax: 64 * mebibyte,
  appsPerWorkerMax: 100,
  // Twice what an app may answer (8 MiB), so that an answer too large is still read, and refused with its reason.
  messageBytesMax: 16 * mebibyte,
  // A worker that does not read what it is sent gets no further calls, and then is cut off.
  unsentBytesMax: 32 * mebibyte,
  // What one worker says about runs of other nodes waits for the store. More is dropped, and workers say it again: a lease with the next interval,
  // a reply by /v0/connect/flush.
  elsewhereMax: 100,
  elsewhereBytesMax: 32 * mebibyte,
  closeMs: 2_000,
} as const;

export type ConnectLimits = { readonly [K in keyof typeof connectLimits]: number };
