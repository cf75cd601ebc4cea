// Every default and every bound, each with its reason.
import { leaseTimes, sharedLeaseTermMs } from "../model/lease-times.ts";

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;

export const limits = {
  // Inngest's middle plan; larger bodies belong in storage of their own, with their address in the event.
  eventBytesMax: 512 * kibibyte,
  eventsPerCallMax: 5_000,
  stepBytesMax: 4 * mebibyte,
  runBytesMax: 32 * mebibyte,
  stepsMax: 1_000,
  // A small process should not open a thousand connections because a thousand events arrived.
  runsInFlight: 100,
  leaseBatch: 100,
  // Outcomes of the runs at work, as text: twice the largest run. Code that has them all at hand has them once more as values, and each
  // passes through the store's thread: some 300 MiB at worst, in a process that may have 512.
  bytesInFlight: 64 * mebibyte,
  // One beat may be lost and another still comes before a holder stops trusting its lease (model/lease-times.ts).
  heartbeatMs: leaseTimes(sharedLeaseTermMs).beatEveryMs,
  leaseTermSharedMs: sharedLeaseTermMs,
  // If one process owns the store, no other can take its leases; a stalled event loop must not cost it its own.
  leaseTermOwnedMs: 10 * 60 * 1_000,
  sweepMs: 5_000,
  sweepRowsMax: 500,
  // A batch of history holds up the commits of a file for about this long; a database shared by nodes it holds up for nothing.
  retentionBatchMs: 4,
  retentionSharedBatchMs: 50,
  retentionRowsFirst: 1_000,
  retentionRowsMin: 50,
  retentionRowsMax: 20_000,
  // By hand, page after page without a pause between them.
  pruneRowsMax: 500,
  // Of the time, while it keeps up; more only as long as history gets old faster than it goes, or the disk would fill in the busiest of times.
  retentionShare: 0.05,
  retentionShareMax: 0.5,
  retentionHurryMs: 10_000,
  retentionPaceMs: 10,
  // Once nothing old is left: where much went, much gets old.
  retentionBreathMs: 1_000,
  retentionPauseMs: 5 * 60 * 1_000,
  // Which node deletes: one that says nothing for longer than two pauses is gone.
  retentionTurnMs: 4 * 5 * 60 * 1_000,
  // Ids follow time closely, not exactly: what came late, behind where nothing was left, is found once a day.
  retentionFullMs: 24 * 60 * 60 * 1_000,
  retentionMsMin: 60 * 60 * 1_000,
  // A year: at the yearly audit people ask who released a key, when the run is long gone. Entries are small and made by hand.
  auditKeptMsMin: 365 * 24 * 60 * 60 * 1_000,
  // Longer than the law asks anybody to keep anything; what is longer was meant in another unit.
  retentionMsMax: 100 * 366 * 24 * 60 * 60 * 1_000,
  // Beneath every wake-up: what was missed is found this much later at worst.
  pollMs: 1_000,
  // Most transactions commit within this of the last thing that was done in them.
  outboxLooksMs: [10, 40, 150, 400],
  // At most 25 MiB at hand.
  outboxBatch: 50,
  // Longer than an ingest takes, so that two nodes seldom do the same work; what a lost node had at hand waits no longer.
  outboxLeaseMs: 10_000,
  outboxFailuresMax: 3,
  // The store failed in the middle of something: soon enough for a hiccup, seldom enough for a long illness.
  brokenDelayMs: 1_000,
  brokenDelayMsMax: 30_000,
  stopGraceMs: 10_000,
  // A process that does not stay waits for what is due within this: a start of its own would cost more.
  sweepLingerMs: 1_000,
  // After the grace: for handing back what was leased. A store that takes longer is gone, and what was leased ends with its term.
  handOverMs: 2_000,
  invokeTimeoutMs: 365 * 24 * 60 * 60 * 1_000,
  fetchBytesMax: 4 * mebibyte,
  expressionsCached: 10_000,
} as const;
