// One connection and the one transaction it carries, seen from both ends. The client learns its end by an answer, by an error, by the
// connection breaking or by giving up, whichever reaches it first. Only an answer tells what became of a COMMIT that was sent.
import type { EventLoop } from "../event-loop.ts";
import type { SimProcess } from "../platform.ts";
import { type DriverError, driverErrors } from "./driver-errors.ts";
import type { PostgresServer } from "./server.ts";

/** The result of a store's call, inside a transaction that was committed. */
export type Settled = { readonly answer: unknown } | { readonly error: unknown };

export interface Client {
  readonly loop: EventLoop;
  readonly process: SimProcess;
  readonly server: PostgresServer;
  /** The time something is on its way between the process and the server, drawn anew. */
  readonly wayMs: () => number;
  /** The process waits so long for an answer before it lets go of the connection. */
  readonly answerMaxMs: number;
}

export class Session {
  /** The client's last word: from here on only an answer can say what came of it. */
  commitSent = false;
  isCommitted = false;
  /** The server's end is closed: what was not committed is rolled back, and nothing that still arrives counts. */
  isCut = false;
  /** The client has heard how it ended, or has given up. */
  isOver = false;
  readonly end: Promise<readonly Settled[]>;
  private succeed: (settled: readonly Settled[]) => void = () => {};
  private fail: (error: DriverError) => void = () => {};
  private arrival: { cancel(): void } | null = null;
  private readonly patience: { cancel(): void };

  constructor(private readonly client: Client) {
    const { loop, process, answerMaxMs } = client;
    this.end = new Promise((resolve, reject) => {
      this.succeed = resolve;
      this.fail = reject;
    });
    const letGo = () => this.finish(() => this.fail(driverErrors.noAnswer()));
    this.patience = loop.schedule(answerMaxMs, letGo, process);
  }

  /** Its process may be dead, and the client's end of the connection with it. */
  get isAlive(): boolean {
    return this.client.process.alive;
  }

  /** The server says something last. It is lost with the connection while it is under way. */
  answer(settled: readonly Settled[]): void {
    this.reply(() => this.succeed(settled));
  }

  refuse(error: DriverError): void {
    this.reply(() => this.fail(error));
  }

  /** The connection breaks: whatever was not committed never happened. */
  cut(error: DriverError): void {
    if (this.isCut) return;
    this.isCut = true;
    const { server, loop, process, wayMs } = this.client;
    server.closed(this);
    this.arrival?.cancel();
    loop.schedule(wayMs(), () => this.finish(() => this.fail(error)), process);
  }

  private reply(tell: () => void): void {
    if (this.isCut) return;
    const { server, loop, process, wayMs } = this.client;
    const arrive = () => {
      server.closed(this);
      this.finish(tell);
    };
    this.arrival = loop.schedule(wayMs(), arrive, process);
  }

  private finish(tell: () => void): void {
    this.isOver = true;
    this.patience.cancel();
    tell();
  }
}
