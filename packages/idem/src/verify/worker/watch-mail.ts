// Mail over SMTP, by nodemailer or any other client: connections to mail servers are answered here. A mail handed over is a thing for each recipient.
import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";
import { createHash } from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import { Duplex } from "node:stream";
import tls from "node:tls";
import type { Json, Thing } from "../thing.ts";
import { currentCaller } from "./caller.ts";
import type { WatchedProcess } from "./life.ts";
import { nameAt } from "./model-names.ts";
import { type Notes, notesInMemory } from "./notes.ts";
import { type HandedMail, SmtpSession, type SmtpTurn } from "./smtp-session.ts";
import { fromMethod, type WatchedPackage } from "./watch-packages.ts";
import type { Outside, Watcher } from "./watcher.ts";

interface Kept extends HandedMail {
  readonly host: string;
  readonly fn: string | null;
  readonly effect: number;
}

let kept: Notes<Kept> = notesInMemory("mail");

// Submission, relay, over TLS, and what people's catch-alls for mail listen on.
const mailPorts = new Set([25, 465, 587, 1025, 2465, 2525, 2587]);

interface Target {
  readonly host: string;
  readonly port: number;
}

/** Null for what is no mail server. Of a port nobody knows its client tells. */
function mailServerOf(args: readonly unknown[]): Target | null {
  const [first, second] = Array.isArray(args[0]) ? (args[0] as unknown[]) : args;
  const options = typeof first === "object" && first !== null ? (first as Record<string, unknown>) : null;
  const port = Number(options === null ? first : options.port);
  const name = options === null ? second : (options.host ?? options.servername);
  if (!Number.isInteger(port)) return null;
  const isMailer = mailPorts.has(port) || /[\\/]nodemailer[\\/]/.test(new Error("who").stack ?? "");
  return isMailer ? { host: nameAt(typeof name === "string" ? name : "localhost"), port } : null;
}

/** The client's end of a connection to a mail server that is not there. */
class MailSocket extends Duplex {
  readonly authorized = true;
  readonly remoteAddress = "192.0.2.1";
  readonly localAddress = "192.0.2.2";
  connecting = true;

  constructor(
    private readonly outside: Outside,
    readonly target: Target,
    readonly session: SmtpSession,
    readonly encrypted: boolean,
  ) {
    super({ allowHalfOpen: false });
  }

  /** Reports that it stands, and greets. */
  opened(event: "connect" | "secureConnect", isGreeted: boolean): void {
    process.nextTick(() => {
      this.connecting = false;
      this.emit(event);
      if (event === "secureConnect") this.emit("secure");
      if (!isGreeted) this.turn(this.session.greet());
    });
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    const turns = this.session.take(chunk.toString("latin1"));
    process.nextTick(done);
    for (const turn of turns) this.turn(turn);
  }

  override _final(done: () => void): void {
    done();
    this.push(null);
  }

  private turn(turn: SmtpTurn): void {
    if (turn.kind === "mail") {
      ofAsker(turn.mail, () => void this.hand(turn.mail));
      return;
    }
    if (turn.kind === "strange") {
      const { host, port } = this.target;
      const said = JSON.stringify(turn.said.slice(0, 40));
      this.outside.unproven(`${host}:${port} was told ${said}, which no mail server is and which is not watched`);
      this.say(["502 5.5.2 Command not recognized"]);
      return;
    }
    this.say(turn.lines);
    if (turn.isOver) this.push(null);
  }

  private say(lines: readonly string[]): void {
    process.nextTick(() => {
      if (!this.destroyed) this.push(`${lines.join("\r\n")}\r\n`);
    });
  }

  private async hand(mail: HandedMail): Promise<void> {
    const { host } = this.target;
    const end = this.outside.begin();
    const here = kept;
    const title = `mail to ${mail.to.join(", ")} by ${host}`;
    const became = await this.outside.effect({ watcher: "mail", title, key: null }, ({ fn, effect }) => {
      here.add({ ...mail, host, fn, effect });
      return { value: `250 2.0.0 Ok: queued as ${effect}`, isRepeat: false };
    });
    end();
    if (became.kind === "happened") this.say([became.value]);
    else if (became.kind === "refused") this.say([refusals[became.status]]);
    else this.destroy(Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }));
  }

  setTimeout(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  setNoDelay(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  getPeerCertificate(): object {
    return {};
  }
  getProtocol(): string {
    return "TLSv1.3";
  }
  getCipher(): object {
    return { name: "TLS_AES_128_GCM_SHA256" };
  }
}

const refusals = {
  500: "451 4.3.0 Requested action aborted: local error in processing",
  429: "450 4.7.1 Too many messages, try again later",
  409: "554 5.7.1 Message refused",
} as const;

/** Header fields and text, without the mark between parts, which is drawn anew each time. */
export function readMail(text: string): { readonly [name: string]: Json } {
  const end = text.indexOf("\r\n\r\n");
  const head = (end === -1 ? text : text.slice(0, end)).replace(/\r\n[ \t]+/g, " ");
  const body = end === -1 ? "" : text.slice(end + 4);
  const boundary = /boundary="?([^";\r\n]+)/i.exec(head)?.[1] ?? null;
  const plain = (value: string): string => {
    const without = boundary === null ? value : value.replaceAll(boundary, "‹boundary›");
    return without.replaceAll(/boundary="[^"]*"/gi, 'boundary="‹boundary›"');
  };
  const fields = head.split("\r\n").map((line): [string, Json] => {
    const at = line.indexOf(":");
    return [line.slice(0, at).toLowerCase(), plain(line.slice(at + 1).trim())];
  });
  const long = 64 * 1024;
  const shown = body.length > long ? `sha256 ${createHash("sha256").update(body).digest("hex")}` : plain(body);
  return { ...Object.fromEntries(fields), body: shown };
}

/** The asker of a mail, by its Message-ID: a kept connection hands it over in the context of its earlier user. */
const askers = new WeakMap<WatchedProcess, Map<string, AsyncResource>>();

function ofAsker({ text }: HandedMail, hand: () => void): void {
  const life = currentCaller<WatchedProcess>()?.life;
  const id = /^message-id:\s*(\S+)/im.exec(text)?.[1];
  const asker = life === undefined || id === undefined ? undefined : askers.get(life)?.get(id);
  if (asker === undefined) hand();
  else asker.runInAsyncScope(hand);
}

function noteAsker(id: string): void {
  const life = currentCaller<WatchedProcess>()?.life;
  if (life === undefined) return;
  const known = askers.get(life) ?? new Map<string, AsyncResource>();
  askers.set(life, known.set(id, new AsyncResource("Mail")));
}

interface Transporter {
  send(mail: { readonly message: { messageId(): string } }, done: (...args: unknown[]) => void): unknown;
}
const watched = new WeakSet<Transporter>();

function watchTransporter(transporter: Transporter | undefined): void {
  if (transporter === undefined || watched.has(transporter)) return;
  watched.add(transporter);
  const { send } = transporter;
  transporter.send = function (this: Transporter, mail, done) {
    noteAsker(mail.message.messageId());
    return send.call(this, mail, AsyncLocalStorage.bind(done));
  };
}

/** Where `sendMail` was called: the connection is made turns later, or stands already. */
export const nodemailerPackage: WatchedPackage = {
  file: /[\\/]nodemailer[\\/].*[\\/]mailer[\\/]index\.js$/,
  take: (exported: { readonly default?: unknown }) => {
    const Mail = (exported.default ?? exported) as { readonly prototype?: object };
    fromMethod(Mail.prototype, "sendMail", (mail) =>
      watchTransporter((mail as { transporter?: Transporter }).transporter),
    );
  },
};

export const watchMail: Watcher = {
  name: "mail",
  open(outside) {
    const connects = (module: typeof net | typeof tls, name: "connect" | "createConnection", isTls: boolean): void => {
      const before = Reflect.get(module, name) as (...args: unknown[]) => unknown;
      const replaced = (...args: unknown[]): unknown => {
        const done = args.findLast((each) => typeof each === "function") as (() => void) | undefined;
        const under = (args[0] as { socket?: unknown } | null)?.socket;
        const event = isTls ? "secureConnect" : "connect";
        if (under instanceof MailSocket) {
          under.session.encrypted();
          return opened(new MailSocket(outside, under.target, under.session, true), event, true, done);
        }
        const target = outside.isWatched() ? mailServerOf(args) : null;
        if (target === null) return before(...args);
        return opened(new MailSocket(outside, target, new SmtpSession(isTls), isTls), event, false, done);
      };
      Object.defineProperty(module, name, { configurable: true, writable: true, value: replaced });
    };
    connects(net, "connect", false);
    connects(net, "createConnection", false);
    connects(tls, "connect", true);
    syncBuiltinESMExports();
  },
  begin({ notes }) {
    const mine = notes<Kept>("mail");
    kept = mine;
    return { things: () => mine.all().flatMap(thingsOf), madeIds: [] };
  },
};

function opened(
  socket: MailSocket,
  event: "connect" | "secureConnect",
  isGreeted: boolean,
  done: (() => void) | undefined,
): MailSocket {
  if (done !== undefined) socket.once(event, done);
  socket.opened(event, isGreeted);
  return socket;
}

const thingsOf = ({ host, to, text, fn, effect }: Kept): Thing[] =>
  to.map((recipient) => ({
    watcher: "mail",
    destination: host,
    path: [recipient],
    isAddressed: false,
    state: readMail(text),
    by: fn,
    effect,
    made: [],
  }));
