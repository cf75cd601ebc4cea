// The thread that extends a node's leases. It knows nothing of runs: only names, when each was last heard of, and whether the main thread
// lives (model/beats.ts).
import pg from "pg";
import { nextBeat } from "../../model/beats.ts";
import { leaseTimes } from "../../model/lease-times.ts";
import { nodePlatform } from "../../platform/node-platform.ts";
import { nodeThread } from "../../platform/node-thread.ts";
import type { Timer } from "../../platform/platform.ts";
import { readAddress, withoutPassword } from "./address.ts";
import { BeatBoard, type BeatThreadInput, type FromBeatThread, type ToBeatThread } from "./beat-board.ts";
import { Connection } from "./connection.ts";
import { wordsOf } from "./faults.ts";
import { HeartbeatWatch } from "./history-watch.ts";
import { Sessions } from "./sessions.ts";
import { Statements } from "./statement.ts";
import { Transactions } from "./transactions.ts";
import { heartbeatWorker } from "./workers.ts";

const thread = nodeThread<BeatThreadInput, ToBeatThread, FromBeatThread>();
const { memory, url, owner, termMs, blockedMaxMs, about } = thread.input;
const { monoMs } = thread.clock;
const { beatEveryMs, trustMs } = leaseTimes(termMs);
const board = new BeatBoard(memory);
const address = readAddress(url);
const { schema } = address;
const sessions = new Sessions({ pg, address, applicationName: `idem ${owner}`, leaseTermMs: termMs });
const pool = sessions.beats();
const connection = new Connection(pool, new Statements(schema), !address.isPooled);
const { lockWaitMs, beatPatienceMs: patienceMs } = sessions;
const where = withoutPassword(url);
const transactions = new Transactions({
  pool,
  connection,
  schema,
  platform: nodePlatform,
  lockWaitMs,
  patienceMs,
  where,
});

const watch = new HeartbeatWatch(
  () => Buffer.from(nodePlatform.randomBytes(15)).toString("base64url"),
  (rollback) => thread.post({ kind: "rollback", rollback }),
);

/** The workers whose leases are extended, and their places on the board. */
const held = new Map<string, number>();
const asking = new Set<string>();

function lookLater(): Timer {
  return nodePlatform.timer(beatEveryMs / 5, () => {
    look();
    looking = lookLater();
  });
}

function look(): void {
  for (const [worker, place] of held) {
    const last = board.read(place);
    if (asking.has(worker) || last.state !== "held") continue;
    const now = monoMs();
    const step = nextBeat({ now, heardAt: last.askedMono, livedAt: board.livedAt, termMs, blockedMaxMs });
    if (step === "lapsed") board.write(place, { ...last, state: "lapsed" });
    if (step !== "beat" || now - last.askedMono < beatEveryMs) continue;
    asking.add(worker);
    beat(worker, place)
      // Not heard in time: it lapses by itself.
      .catch(() => {})
      .finally(() => asking.delete(worker));
  }
}

async function beat(worker: string, place: number): Promise<void> {
  const askedMono = monoMs();
  const said = about ?? undefined;
  const { alive } = await watch.count((row) =>
    transactions.run((tx) => heartbeatWorker(tx, worker, termMs, said, row)),
  );
  if (held.get(worker) !== place) return;
  const before = board.read(place);
  const isLate = monoMs() - before.askedMono >= trustMs;
  // Its holder may have stopped trusting it meanwhile, and must not find it whole again.
  if (!alive) board.write(place, { ...before, state: "dead" });
  else if (isLate) board.write(place, { ...before, state: "lapsed" });
  else board.write(place, { askedMono, state: "held" });
}

let looking: Timer = lookLater();

thread.onMessage((message) => {
  switch (message.kind) {
    case "hold":
      held.set(message.worker, message.place);
      return;
    case "drop":
      held.delete(message.worker);
      return;
    case "close":
      looking.cancel();
      transactions.close();
      void sessions.close(nodePlatform).finally(() => thread.end());
  }
});

// A report for the main thread, which may be blocked from the first step on: nothing here waits for a reply, and a server that could not be
// reached yet is tried again by the next beat.
pool.connect().then(
  (client) => {
    client.release();
    thread.post({ kind: "open" });
  },
  (error: unknown) => thread.post({ kind: "failed", why: wordsOf(error) }),
);
