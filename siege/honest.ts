// Honest traffic beside the attack, at a steady pace whatever the answers take: events and the runs they start, in a served app and in a worker;
// webhooks, the reads of a dashboard's page, requests behind a key, a supervisor's look at /health, what an app publishes, an operator's live
// page; and where an attack is on examinations, one of an operator's.
import { Agent, request as httpRequest } from "node:http";
import { type Castle, stripeSignature } from "./castle.ts";
import { ask } from "./line.ts";
import { keyedPath, source } from "./target.ts";

export const traffics = [
  "send",
  "served run",
  "worker's run",
  "webhook",
  "page",
  "keyed",
  "health",
  "publish",
  "live page",
  "examination",
] as const;
export type Traffic = (typeof traffics)[number];

export interface Sample {
  readonly traffic: Traffic;
  readonly slice: number;
  readonly ms: number;
  /** Null when it was answered as it should be. */
  readonly refused: string | null;
  /** Told to come again because the store did not answer in time: a refusal on a machine of its own, on a busy one a matter of speed. */
  readonly isLate: boolean;
}

const late = /^503 .*(try again|has not answered for)/;

// Of each: a small shop's load, so that what honest callers wait for is the attack and not each other.
const everyMs = 125;
// A run that takes longer is taken for lost.
const runMsMax = 120_000;

export class HonestTraffic {
  readonly samples: Sample[] = [];
  slice = 0;
  private isExamining = false;
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 100 });
  private readonly running = new Map<number, (ended: boolean) => void>();
  private readonly underWay = new Set<Promise<void>>();
  private readonly timer: NodeJS.Timeout;
  private readonly all = [
    this.send,
    this.sendToWorker,
    this.deliver,
    this.look,
    this.charge,
    this.health,
    this.publish,
    this.follow,
  ];
  private turn = 0;
  private count = 0;

  constructor(private readonly castle: Castle) {
    castle.onRan = (n) => this.running.get(n)?.(true);
    // Spread over the interval: all at once would be a load of its own.
    this.timer = setInterval(() => this.begin(), everyMs / this.all.length);
  }

  /** Resolves when everything that was begun has been answered, and every run has ended or is lost. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all(this.underWay);
    this.agent.destroy();
  }

  /** An operator's, in another environment than the attacker's; one at a time, for each is a process. */
  examine(): void {
    if (!this.isExamining) this.note(this.examineStore());
  }

  private begin(): void {
    this.note(this.all[this.turn++ % this.all.length]!.call(this));
  }

  private note(done: Promise<void>): void {
    this.underWay.add(done);
    void done.finally(() => this.underWay.delete(done));
  }

  private async timed(
    traffic: Traffic,
    expected: number,
    url: string,
    given: Parameters<typeof ask>[1],
  ): Promise<boolean> {
    const { slice } = this;
    const since = performance.now();
    const { reaction, text } = await ask(url, { ...given, agent: this.agent });
    const refused = reaction === expected ? null : `${reaction} ${text.slice(0, 300)}`;
    const isLate = refused !== null && late.test(refused);
    this.samples.push({ traffic, slice, ms: performance.now() - since, refused, isLate });
    return refused === null;
  }

  private send(): Promise<void> {
    return this.run("siege/served", "served run");
  }

  private sendToWorker(): Promise<void> {
    return this.run("siege/worked", "worker's run");
  }

  private async run(name: string, traffic: Traffic): Promise<void> {
    const { server, eventKey } = this.castle.target;
    const { slice } = this;
    const n = ++this.count;
    const since = performance.now();
    const ended = new Promise<boolean>((resolve) => {
      const lost = setTimeout(() => resolve(false), runMsMax);
      this.running.set(n, (isEnded) => {
        clearTimeout(lost);
        resolve(isEnded);
      });
    });
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ name, data: { n } });
    const isSent = await this.timed("send", 200, `${server}/e/${eventKey}`, { method: "POST", headers, body });
    if (!isSent) this.running.get(n)!(false);
    const isEnded = await ended;
    this.running.delete(n);
    if (!isSent) return;
    const refused = isEnded ? null : `not executed within ${runMsMax / 1_000} s`;
    this.samples.push({ traffic, slice, ms: performance.now() - since, refused, isLate: false });
  }

  private async deliver(): Promise<void> {
    const { server, webhookSecret } = this.castle.target;
    const body = JSON.stringify({ id: `evt_honest_${++this.count}`, type: "charge.succeeded", data: { object: {} } });
    const headers = { "content-type": "application/json", "stripe-signature": stripeSignature(webhookSecret, body) };
    await this.timed("webhook", 200, `${server}/w/${source}`, { method: "POST", headers, body });
  }

  private async look(): Promise<void> {
    const { server, operator } = this.castle.target;
    const paths = ["/api/runs?limit=20", "/api/status", "/api/functions", "/api/events?limit=20"];
    await this.timed("page", 200, `${server}${paths[++this.count % paths.length]}`, { headers: { cookie: operator } });
  }

  private async charge(): Promise<void> {
    const headers = { "content-type": "application/json", "idempotency-key": `honest-${++this.count}` };
    await this.timed("keyed", 201, `${this.castle.target.app}${keyedPath}`, { method: "POST", headers, body: "{}" });
  }

  private async health(): Promise<void> {
    await this.timed("health", 200, `${this.castle.target.server}/health`, {});
  }

  private async publish(): Promise<void> {
    const { server, signingKey } = this.castle.target;
    const headers = { "content-type": "application/json", authorization: `Bearer ${signingKey}` };
    const url = `${server}/v1/realtime/publish?channel=honest&topic=news`;
    await this.timed("publish", 200, url, { method: "POST", headers, body: JSON.stringify({ n: ++this.count }) });
  }

  /** Until its first bytes are there: digests follow at their own pace. */
  private async follow(): Promise<void> {
    const { server, operator } = this.castle.target;
    const { slice } = this;
    const since = performance.now();
    const refused = await new Promise<string | null>((resolve) => {
      const request = httpRequest(`${server}/api/live`, {
        headers: { cookie: operator },
        agent: false,
        timeout: runMsMax,
      });
      const done = (why: string | null) => {
        request.destroy();
        resolve(why);
      };
      request.on("timeout", () => done("nothing came"));
      request.on("error", (error) => done(error.message));
      request.on("response", (response) => {
        response.on("error", () => {});
        response.on("close", () => done("closed without a word"));
        response.on("data", (chunk: Buffer) => {
          done(response.statusCode === 200 ? null : `${response.statusCode} ${chunk.toString().slice(0, 300)}`);
        });
      });
      request.end();
    });
    this.samples.push({ traffic: "live page", slice, ms: performance.now() - since, refused, isLate: false });
  }

  private async examineStore(): Promise<void> {
    const { server, signingKey } = this.castle.target;
    const headers = { "content-type": "application/json", authorization: `Bearer ${signingKey}` };
    const body = JSON.stringify({ id: `honest-${++this.count}-0000`, days: 1 });
    this.isExamining = true;
    await this.timed("examination", 200, `${server}/api/doctor`, { method: "POST", headers, body });
    this.isExamining = false;
  }
}
