// A store that went back in time: after a failover that lost commits, or a restore, it no longer has writes that it acknowledged. Nothing in
// the store can say so, because whatever would say it is gone with them. A process that lived through it can: it remembers what was
// acknowledged to it, and finds that the store does not.
//
// The proof is the heartbeat. Each heartbeat moves a counter in a row of the process's own (`heartbeats`), and only forward from the counter that
// was acknowledged last:
//
//   the process was            the row now has        then
//   acknowledged for
//   ------------------------   --------------------   --------------------------------------------------------------------------------------
//   nothing yet                anything, or no row    the row is created or moved; nothing can be known. So it is with every process that starts
//                                                     after the failover: it remembers nothing, and those that lived through it report
//   counter k                  k                      the ordinary case, and every promotion of a standby that had each acknowledged commit
//   counter k                  more than k            a heartbeat whose answer was lost did count: both are accepted, only k was acknowledged
//   counter k                  less than k            the store went back: it remembers this process only up to that row's time ("older")
//   counter k, lately          no row                 the store went back to before the process began, or is another one ("gone")
//   counter k, long ago        no row                 the process slept, and the row was cleaned up (`heartbeatKeptMs`): no proof of anything
//
// - The row is not the worker's lease: a worker that is declared lost after a long failover, as all are, still finds its counter.
// - A row that is older is left as it is. A heartbeat that finds it, and whose answer is lost, changes nothing: the next one finds the same.
// - Once the finding is reported, the process continues with a new row: one incident is found once.
// - "Long ago" is counted by the store's clock, which cleans up by it, with half of the time to spare: a clock that is set far ahead makes a
//   missing row no proof and never a false one. Nothing else here depends on a clock.
// - A restore while nodes run, into the same database or another one behind the same address, is "older" or "gone" as well.
//
// A heartbeat comes every few seconds, and a failover may lose less. So a process also remembers the ids that were acknowledged to it last
// (engine/lost-writes.ts). When the server behind its sessions has changed, it looks them up: an acknowledged event that is not there, or an
// acknowledged end of a run that is open, is the same proof.
//
// What is missing lies between the time of the row that survived and the last acknowledgement. Processes that find the same incident
// join one alert: it is named after the server that answers now, by the instant it was started.

/** A counter of heartbeats, and when it was written by the store's clock. */
export interface HeartbeatCount {
  readonly counter: number;
  readonly at: number;
}

export type HeartbeatVerdict = "kept" | "older" | "gone" | "unknown";

/** A row that is not moved for this long is deleted. */
export const heartbeatKeptMs = 24 * 60 * 60 * 1_000;

/** What a row says about the store. `acknowledged`: what the process was answered last, null before the first answer. */
export function judgeHeartbeat(
  acknowledged: HeartbeatCount | null,
  found: HeartbeatCount | null,
  now: number,
): HeartbeatVerdict {
  if (acknowledged === null) return "unknown";
  if (found !== null) return found.counter < acknowledged.counter ? "older" : "kept";
  return now - acknowledged.at < heartbeatKeptMs / 2 ? "gone" : "unknown";
}

/** What one process knows of acknowledged writes that the store lost. Times are the store's. */
export interface StoreRollback {
  /** The server that answers now, the same for each process that found it. */
  readonly server: string;
  /** Identifies the proof: a row of heartbeats, or the process that missed its ids. */
  readonly proof: string;
  /** The last instant that the store still has of this process; null where it has nothing. */
  readonly survivedAt: number | null;
  /** The first acknowledgement of what is compared: where nothing survived, that is where the loss begins at the latest. */
  readonly firstAt: number;
  /** The last acknowledgement before it was found. */
  readonly acknowledgedAt: number;
  readonly foundAt: number;
}

export type HistoryReport =
  | { readonly kind: "rollback"; readonly rollback: StoreRollback }
  /** Another server answers, or the same one was started again. It may have lost what was acknowledged last. */
  | { readonly kind: "server-changed"; readonly server: string }
  /** A sentence for the log: whether commits wait for a standby has changed. */
  | { readonly kind: "notice"; readonly level: "info" | "warn"; readonly text: string };

/** Ids that were acknowledged: of events that were stored, and of runs that ended. */
export interface AcknowledgedWrites {
  readonly events: readonly string[];
  readonly runs: readonly string[];
}

export interface StoreHistory {
  /** The answer ends the subscription. */
  subscribe(listener: (report: HistoryReport) => void): () => void;
  /** Of these writes those that the store does not have. At most a thousand of each at a time. */
  missing(env: string, writes: AcknowledgedWrites): Promise<AcknowledgedWrites>;
}

// ------------------------------------------------------------------------------------------------ its alert

export const rollbackKind = "store-rollback";

/** How a store came to be older than what it acknowledged. */
export type RollbackCause = "failover" | "restored" | "replaced";

/** Pairs of its alert say by their ids what they are: bounds of what may be missing, or a write that is known to be. */
const boundPattern = /^(survived|acknowledged):/;

export const boundIds = (proof: string): { readonly survived: string; readonly acknowledged: string } => ({
  survived: `survived:${proof}`,
  acknowledged: `acknowledged:${proof}`,
});

export const isBound = ({ laterId }: { readonly laterId: string }): boolean => boundPattern.test(laterId);

const titles: Readonly<Record<RollbackCause, (range: string) => string>> = {
  failover: (range) => `The store lost acknowledged writes: what was acknowledged ${range} may be missing`,
  restored: (range) => `The store was restored from a backup: what was acknowledged ${range} is not in it`,
  replaced: (range) => `The store's file was replaced by an older copy: what was acknowledged ${range} is not in it`,
};

/** `firstAt` and `lastAt` are an alert's own: of the bounds, the earliest and the latest. */
export function rollbackTitle(
  cause: RollbackCause,
  { firstAt, lastAt }: { readonly firstAt?: number; readonly lastAt?: number },
): string {
  const instant = (ms: number) => new Date(ms).toISOString();
  const isKnown = firstAt !== undefined && lastAt !== undefined;
  return titles[cause](isKnown ? `from ${instant(firstAt)} to ${instant(lastAt)}` : "before");
}
