// A PostgreSQL server as its clients know it: it commits a transaction whole or not at all, and everything else may happen to the
// connection that carries it. The facts are kept by the world's own store; a commit is one instant of it, so transactions of
// different nodes interleave at their commits and nowhere else. The inside of two that overlap is for the contract suite, which
// has a real server.
import type { EventLoop } from "../event-loop.ts";
import type { Random } from "../random.ts";
import { driverErrors } from "./driver-errors.ts";
import { Hints, type HintsOptions } from "./hints.ts";
import type { Session } from "./session.ts";

export class PostgresServer {
  /** Connections with a transaction under way, or whose last answer is. */
  private readonly sessions = new Set<Session>();
  private downUntil = 0;
  /** Backends to be terminated for which there was no connection yet. */
  private terminations = 0;

  readonly hints: Hints;
  private readonly loop: EventLoop;
  private readonly random: Random;

  constructor(options: HintsOptions) {
    this.loop = options.loop;
    this.random = options.random;
    this.hints = new Hints({ ...options, random: options.random.fork("hints") });
  }

  /** Whether it refuses connections. */
  get isDown(): boolean {
    return this.loop.now < this.downUntil;
  }

  opened(session: Session): void {
    this.sessions.add(session);
    if (this.terminations === 0) return;
    this.terminations--;
    // Somewhere in its short life.
    this.loop.schedule(this.random.between(0, 3), () => session.cut(driverErrors.terminated()));
  }

  closed(session: Session): void {
    this.sessions.delete(session);
  }

  /** Every connection is cut at once, nobody gets in for a while, and what was committed is there when it is back. */
  crash(downMs: number): void {
    this.downUntil = Math.max(this.downUntil, this.loop.now + downMs);
    for (const session of [...this.sessions]) session.cut(driverErrors.crashed());
  }

  /** It is up again, if it was down. */
  recover(): void {
    this.downUntil = 0;
  }

  /** One backend ends, whatever it was doing: the next one to do something, when none is. */
  terminate(): void {
    const sessions = [...this.sessions].filter(({ isAlive }) => isAlive);
    if (sessions.length === 0) this.terminations++;
    else this.random.pick(sessions).cut(driverErrors.terminated());
  }
}
