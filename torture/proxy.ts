// The way from a node to PostgreSQL, in our hands. It reads along and can cut a session at the two worst instants there are: just
// before a COMMIT would have arrived, and after it was carried out but before anybody heard of it. And it can fall silent.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { type Frame, Frames, textOf } from "./wire-frames.ts";

export const cuts = ["cut-before-commit", "cut-after-commit", "cut-after-statement"] as const;
export type Cut = (typeof cuts)[number];

const isCommit = (frame: Frame): boolean =>
  frame.type === "Q" && /^\s*commit\b|;\s*commit\s*;?\s*$/i.test(textOf(frame));

// Commands that end outside of a transaction without having been one themselves.
const isNoStatement = (tag: string): boolean => /^(BEGIN|COMMIT|ROLLBACK|SET|LISTEN|START)/.test(tag);

export class WireProxy {
  private readonly sessions = new Set<Session>();
  private readonly clients = new Set<Socket>();
  private readonly armed: { readonly cut: Cut; readonly done: () => void }[] = [];
  private silence: { readonly over: Promise<void> } | null = null;

  private constructor(
    private readonly server: Server,
    private readonly target: () => number,
  ) {}

  /** `target` is the port PostgreSQL listens at. */
  static async open(target: () => number): Promise<WireProxy> {
    const server = createServer({ allowHalfOpen: false });
    const proxy = new WireProxy(server, target);
    server.on("connection", (client) => void proxy.begin(client));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** The next session that comes to this point is cut there; resolves once one was. */
  arm(cut: Cut): Promise<void> {
    return new Promise((done) => this.armed.push({ cut, done }));
  }

  disarm(): void {
    this.armed.length = 0;
  }

  /** Ends some of the sessions, as a router that lost its tables does; says how many. */
  reset(choose: <T>(sessions: readonly T[]) => readonly T[]): number {
    const chosen = choose([...this.sessions]);
    for (const session of chosen) session.cut();
    return chosen.length;
  }

  /** Nothing passes in either direction for so long, and nobody hears of it. */
  async fallSilent(ms: number): Promise<void> {
    const over = new Promise<void>((resolve) => setTimeout(resolve, ms));
    this.silence = { over };
    for (const session of this.sessions) session.pause();
    await over;
    this.silence = null;
    for (const session of this.sessions) session.resume();
  }

  async close(): Promise<void> {
    this.disarm();
    this.reset((sessions) => sessions);
    for (const client of this.clients) client.destroy();
    this.server.close();
    await once(this.server, "close");
  }

  private async begin(client: Socket): Promise<void> {
    this.clients.add(client);
    client.on("error", () => {});
    client.on("close", () => this.clients.delete(client));
    await this.silence?.over;
    if (client.destroyed) return;
    const session: Session = new Session(client, connect(this.target(), "127.0.0.1"), {
      takes: (cut) => this.takes(cut),
      onEnd: () => this.sessions.delete(session),
    });
    this.sessions.add(session);
  }

  /** Whether a cut was asked for at this point; the first session there has it. */
  private takes(cut: Cut): boolean {
    const at = this.armed.findIndex((each) => each.cut === cut);
    if (at < 0) return false;
    const [taken] = this.armed.splice(at, 1);
    taken!.done();
    return true;
  }
}

interface SessionOptions {
  readonly takes: (cut: Cut) => boolean;
  readonly onEnd: () => void;
}

class Session {
  private readonly asked = new Frames(true);
  private readonly answered = new Frames(false);
  private isInTransaction = false;
  /** The work is done, and its answer is kept back: the session ends once the server is ready for the next. */
  private isWithheld = false;
  private isOver = false;

  constructor(
    private readonly client: Socket,
    private readonly server: Socket,
    private readonly options: SessionOptions,
  ) {
    client.setNoDelay(true);
    server.setNoDelay(true);
    client.on("data", (chunk) => this.pass(this.asked.take(chunk), server, (frame) => this.mayAsk(frame)));
    server.on("data", (chunk) => this.pass(this.answered.take(chunk), client, (frame) => this.mayAnswer(frame)));
    server.on("error", () => {});
    client.on("close", () => this.end());
    server.on("close", () => this.end());
  }

  pause(): void {
    this.client.pause();
    this.server.pause();
  }

  resume(): void {
    this.client.resume();
    this.server.resume();
  }

  cut(): void {
    this.isOver = true;
    this.client.resetAndDestroy();
    this.server.resetAndDestroy();
    this.options.onEnd();
  }

  private end(): void {
    if (this.isOver) return;
    this.isOver = true;
    // Bytes already on their way still arrive.
    this.client.end();
    this.server.end();
    this.options.onEnd();
  }

  private pass(frames: readonly Frame[], to: Socket, may: (frame: Frame) => boolean): void {
    const passed: Buffer[] = [];
    for (const frame of frames) {
      if (this.isOver) return;
      if (may(frame)) passed.push(frame.bytes);
    }
    if (passed.length > 0 && !this.isOver) to.write(Buffer.concat(passed));
  }

  private mayAsk(frame: Frame): boolean {
    if (!isCommit(frame) || !this.options.takes("cut-before-commit")) return true;
    this.cut();
    return false;
  }

  private mayAnswer(frame: Frame): boolean {
    const { takes } = this.options;
    if (frame.type === "Z") {
      this.isInTransaction = String.fromCharCode(frame.bytes[5]!) !== "I";
      if (this.isWithheld) this.cut();
    } else if (frame.type === "C" && !this.isWithheld) {
      const tag = textOf(frame);
      if (tag === "COMMIT") this.isWithheld = takes("cut-after-commit");
      else if (tag === "BEGIN") this.isInTransaction = true;
      else if (!this.isInTransaction && !isNoStatement(tag)) this.isWithheld = takes("cut-after-statement");
    }
    return !this.isWithheld;
  }
}
