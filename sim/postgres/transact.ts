// One transaction on its way through a PostgreSQL server, and everything that may happen to it there: it waits for locks, is rolled
// back by a serialization failure or a deadlock, loses its connection before or after its COMMIT, or lies open under a client that
// stands still until the server has had enough. Until the instant of its commit nothing of it can be seen.
import type { Counters } from "../counters.ts";
import type { FaultName, Faults } from "../faults.ts";
import type { Random } from "../random.ts";
import { driverErrors } from "./driver-errors.ts";
import { type Client, Session, type Settled } from "./session.ts";

/** One call of the store, to be carried out inside a transaction. */
export interface Call {
  readonly name: string;
  readonly input: readonly unknown[];
  readonly isRead: boolean;
}

export interface Transacting extends Client {
  readonly random: Random;
  readonly counters: Counters;
  readonly faults: () => Faults;
  /** Carries out a call here and now. */
  readonly apply: (call: Call) => Promise<Settled>;
}

// deadlock_timeout: so long a transaction waits before the server looks for the others.
const deadlockMs = 1_000;

// As the store sets them.
const idleMaxMs = 5_000;
const lockMaxMs = 10_000;

/** Resolves when the client knows, or believes to know, how it ended; never for a client that is dead by then. */
export function transact(way: Transacting, calls: readonly Call[]): Session {
  const session = new Session(way);
  void carry(way, session, calls);
  return session;
}

async function carry(way: Transacting, session: Session, calls: readonly Call[]): Promise<void> {
  const { loop, random, server } = way;
  const isRead = calls[0]!.isRead;
  if (server.isDown) return session.cut(random.pick([driverErrors.refused, driverErrors.startingUp])());
  server.opened(session);
  // A statement may go out together with its COMMIT; others are sent one after the other, each after the answer to the last.
  const isPipelined = isRead || !random.chance(way.faults().interactiveShare);
  session.commitSent = isPipelined;
  await loop.sleep(way.wayMs() + silenceMs(way));
  if (session.isCut) return;
  const cutsBefore = strikes(way, "cut-before-commit");
  if (cutsBefore && random.chance(0.5)) return session.cut(driverErrors.reset());
  if (!isRead && (await isRolledBack(way, session))) return;
  if (!isPipelined && !(await isCommitAsked(way, session))) return;
  if (cutsBefore) session.cut(driverErrors.reset());
  if (session.isCut) return;
  const settled = await Promise.all(calls.map((call) => way.apply(call)));
  session.isCommitted = true;
  if (!isRead) noteCommit(way, session);
  if (strikes(way, "cut-after-commit")) return session.cut(driverErrors.reset());
  session.answer(settled);
}

/** The statements: they wait for the locks of others, and may be the ones that have to give way. */
async function isRolledBack(way: Transacting, session: Session): Promise<boolean> {
  const { loop, random } = way;
  const waitMs = strikes(way, "lock-wait") ? random.between(0, way.faults().lockWaitMaxMs) : 0;
  const isDeadlock = strikes(way, "deadlock");
  const lockMs = Math.min(isDeadlock ? deadlockMs : waitMs, lockMaxMs);
  if (lockMs > 0) await loop.sleep(lockMs);
  if (session.isCut) return true;
  const error = isDeadlock
    ? driverErrors.deadlock
    : waitMs > lockMaxMs
      ? driverErrors.lockTimeout
      : strikes(way, "serialization-failure")
        ? driverErrors.couldNotSerialize
        : null;
  if (error !== null) session.refuse(error());
  return error !== null;
}

/** The client hears that its statements were carried out and sends COMMIT, if it still can and the server still listens. */
async function isCommitAsked(way: Transacting, session: Session): Promise<boolean> {
  const { loop, process, counters } = way;
  const idle = loop.schedule(idleMaxMs, () => {
    if (session.isCut) return;
    counters.add(process.alive ? "transactions rolled back as idle" : "transactions rolled back with their client");
    session.cut(driverErrors.idleTimeout());
  });
  await new Promise<void>((resolve) => loop.schedule(way.wayMs(), resolve, process));
  // A client that knows of the end, or has given up, says nothing any more.
  if (session.isOver) return false;
  session.commitSent = true;
  await loop.sleep(way.wayMs() + silenceMs(way));
  idle.cancel();
  return !session.isCut;
}

/** Nothing gets through for a while: what was sent arrives all the same, perhaps after the client has let go. */
function silenceMs(way: Transacting): number {
  return strikes(way, "silent-connection") ? way.random.between(0, way.answerMaxMs * 1.5) : 0;
}

function noteCommit({ counters, process, loop }: Transacting, session: Session): void {
  if (!process.alive) counters.add("commits after their client died");
  else if (session.isOver) counters.add("commits after their client gave up");
  else if (process.frozenUntil > loop.now) counters.add("commits of a client that stands still");
}

function strikes({ random, counters, faults }: Transacting, fault: FaultName): boolean {
  if (!random.chance(faults().rates[fault])) return false;
  counters.add(`fault ${fault}`);
  return true;
}
