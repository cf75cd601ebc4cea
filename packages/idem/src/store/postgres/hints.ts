// Hints between nodes, over LISTEN and NOTIFY. They are sent after the commit they speak of, ten times a second at most, because
// commits that notify wait for each other in the whole server (docs/reference/stores.md#notifications); a lost one costs a poll, nothing else.
//
//   the address says               listens     notifies
//   nothing                        yes         yes
//   pooler=true                    no          yes: nodes that are not behind the pooler hear it
//   hints=false                    no          no
//   nothing, the server has none   no          no (recognise-server.ts)
//   nothing, the server refuses    asked once  no more
import type { Client, Pool } from "pg";
import type { Platform, Timer } from "../../platform/platform.ts";
import { waitAtMost } from "../../platform/wait-at-most.ts";
import type { StoreHint, StoreSharing } from "../sharing.ts";
import type { PostgresAddress } from "./address.ts";
import type { Sessions } from "./sessions.ts";
import { quoted } from "./statement.ts";

const sendEveryMs = 100;
// The server's bound for one message is 8,000 bytes.
const messageBytesMax = 7_000;
const pollMs = 1_000;
// A listening session that died silently is found by asking it.
const askEveryMs = 15_000;
const lastHintsMs = 500;
const reconnectMs = { first: 100, longest: 5_000 } as const;
/** Not supported, not even read, no such function: asking again would change nothing. */
const refusals: ReadonlySet<unknown> = new Set(["0A000", "42601", "42883"]);

export interface HintsOptions {
  readonly sessions: Pick<Sessions, "listening">;
  readonly address: PostgresAddress;
  readonly platform: Pick<Platform, "timer" | "randomBytes">;
  readonly pool: Pool;
  /** By the address, or because the server has none. */
  readonly isOff: boolean;
  readonly toTell: readonly string[];
  readonly stand: () => Promise<void>;
}

export class Hints implements StoreSharing {
  readonly pollMs = pollMs;
  private readonly listeners = new Set<(hint: StoreHint) => void>();
  private readonly waiting = new Map<string, StoreHint>();
  private readonly self: string;
  private readonly channel: string;
  private sending: Timer | null = null;
  private client: Client | null = null;
  private asking: Timer | null = null;
  private reconnecting: Timer | null = null;
  private isClosed = false;
  private isOff: boolean;

  get toTell(): readonly string[] {
    return this.options.toTell;
  }

  constructor(private readonly options: HintsOptions) {
    this.self = Buffer.from(options.platform.randomBytes(9)).toString("base64url");
    this.isOff = options.isOff;
    this.channel = `idem ${options.address.schema}`.slice(0, 63);
  }

  subscribe(listener: (hint: StoreHint) => void): () => void {
    this.listeners.add(listener);
    // No session can listen through a transaction pooler: there every node polls.
    if (this.client === null && !this.isOff && !this.options.address.isPooled) void this.listen(reconnectMs.first);
    return () => this.listeners.delete(listener);
  }

  stand(): Promise<void> {
    return this.options.stand();
  }

  /** For this process too: no call's answer tells it. */
  tellAll(hint: StoreHint): void {
    for (const listener of this.listeners) listener(hint);
    this.tell(hint);
  }

  /** For the others; sent soon. */
  tell(hint: StoreHint): void {
    if (this.isClosed || this.isOff) return;
    this.waiting.set(JSON.stringify(hint), hint);
    this.sending ??= this.options.platform.timer(sendEveryMs, () => void this.send(), { background: true });
  }

  private async send(): Promise<void> {
    this.sending = null;
    const texts = [...this.waiting.keys()];
    this.waiting.clear();
    for (let message: string[] = []; texts.length > 0; message = []) {
      let bytes = 0;
      while (texts.length > 0 && (message.length === 0 || bytes + texts[0]!.length * 3 < messageBytesMax)) {
        bytes += texts[0]!.length * 3;
        message.push(texts.shift()!);
      }
      const text = `["${this.self}",[${message.join(",")}]]`;
      // Too long even alone: the poll finds it.
      if (Buffer.byteLength(text) > messageBytesMax) continue;
      const notify = { text: "select pg_notify($1, $2)", values: [this.channel, text] };
      await this.options.pool.query(notify).catch((error: unknown) => this.refused(error));
      if (this.isOff) return;
    }
  }

  private async listen(pauseMs: number): Promise<void> {
    const client = this.options.sessions.listening();
    this.client = client;
    let isLost = false;
    const lost = () => {
      if (isLost) return;
      isLost = true;
      this.asking?.cancel();
      void client.end().catch(() => {});
      if (this.isClosed || this.isOff) return;
      const next = Math.min(pauseMs * 2, reconnectMs.longest);
      this.reconnecting = this.options.platform.timer(pauseMs, () => void this.listen(next), { background: true });
    };
    client.on("error", lost);
    client.on("end", lost);
    client.on("notification", ({ payload }) => this.take(payload ?? ""));
    try {
      await client.connect();
      await client.query(`listen ${quoted(this.channel)}`);
      pauseMs = reconnectMs.first;
      this.ask(client, lost);
    } catch (error) {
      this.refused(error);
      lost();
    }
  }

  private refused(error: unknown): void {
    if (refusals.has((error as { code?: unknown }).code)) this.isOff = true;
  }

  private ask(client: Client, lost: () => void): void {
    const again = () => client.query("select 1").then(() => this.ask(client, lost), lost);
    this.asking = this.options.platform.timer(askEveryMs, () => void again(), { background: true });
  }

  private take(text: string): void {
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      return;
    }
    if (!Array.isArray(message) || message[0] === this.self || !Array.isArray(message[1])) return;
    for (const hint of message[1] as StoreHint[]) for (const listener of this.listeners) listener(hint);
  }

  /** Its session ends with the others of the store. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.sending?.cancel();
    this.asking?.cancel();
    this.reconnecting?.cancel();
    // What this process leaves behind is for the others, who would find it by looking: a server that is away is not waited for.
    await waitAtMost(this.options.platform, lastHintsMs, this.send());
  }
}
