// A real server on a free port with a store in a folder of its own, functions in this process, and the double-invoice story in it:
// what the tests of the pages look at, and what the pictures show.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FunctionOptions, Idem, type IdemOptions, NonRetriableError } from "idem";
import { type RunningServer, type ServerSettings, startServer } from "idem/server";
import { vi } from "vitest";

export interface World {
  readonly origin: string;
  readonly server: RunningServer;
  /** Sends events as a person would; the answer has the ids and what was decided. */
  send(...events: readonly SentEvent[]): Promise<Sent>;
  /** GET under /api, as JSON. */
  api<T = any>(path: string): Promise<T>;
  /** Resolves once the run is in one of the states. */
  reached(runId: string, ...states: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

export interface SentEvent {
  readonly name: string;
  readonly id?: string;
  readonly data?: unknown;
}

export interface Sent {
  readonly ids: readonly string[];
  readonly decisions: readonly {
    readonly kind: string;
    readonly function: string;
    readonly runId: string | null;
    readonly key: string | null;
    readonly eventId: string;
  }[];
}

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

/** An empty store and a server over it. */
export async function openWorld(settings: Partial<ServerSettings> = {}): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), "idem-dashboard-"));
  const given = { port: 0, discovery: false, poll: false, store: `sqlite:${join(folder, "store.db")}`, ...settings };
  const server = await startServer(given, { logger: quiet });
  const { origin } = server;
  const ask = async (path: string, init?: RequestInit) => {
    const answer = await fetch(`${origin}${path}`, init);
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  return {
    origin,
    server,
    api: (path) => ask(path) as Promise<any>,
    send: (...events) =>
      ask("/api/events", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ events }),
      }) as Promise<Sent>,
    reached: async (runId, ...states) => {
      const isReached = async () => {
        const { run } = (await ask(`/api/runs/${runId}`)) as { run: { state: string } };
        return states.includes(run.state);
      };
      await vi.waitUntil(isReached, { timeout: 60_000, interval: 50 });
    },
    close: async () => {
      await server.close({ graceMs: 0 });
      await rm(folder, { recursive: true, force: true });
    },
  };
}

type Code = ReturnType<Idem["createFunction"]>["code"];
const defined = new WeakMap<World, Code[]>();

/** Gives the world a function that lives in the server's own process. An app registers all of its functions, so all are registered again. */
export async function define(
  world: World,
  options: FunctionOptions,
  trigger: { event: string; if?: string } | { cron: string },
  handler: (context: any) => unknown,
  events: NonNullable<IdemOptions["events"]> = {},
): Promise<string> {
  const app = new Idem({ id: "agency", store: "memory:", events });
  const { code, slug } = app.createFunction(options, trigger as { event: string }, handler as () => unknown);
  const codes = [...(defined.get(world) ?? []).filter(({ fn }) => fn !== code.fn), code];
  defined.set(world, codes);
  await (await world.server.world.engine("default")).register(codes);
  return slug;
}

export interface Story {
  readonly drafts: string;
  readonly payments: string;
  /** Placement 48213: the two runs nobody wanted two of, and their events. */
  readonly doubled: {
    readonly firstRun: string;
    readonly secondRun: string;
    readonly firstEvent: string;
    readonly secondEvent: string;
  };
  /** A payment that was delivered four times: its run and its key. */
  readonly payment: { readonly run: string; readonly key: string; readonly event: string };
  /** An event that came again under its own id. */
  readonly again: { readonly first: string; readonly second: string };
  readonly failed: string;
  readonly retried: string;
  readonly sleeping: string;
  readonly waiting: string;
}

const runOf = ({ decisions }: Sent, at = 0): string => decisions[at]!.runId!;

/** The double invoice, payments that were delivered more than once, and one run of each kind. */
export async function tellStory(
  world: World,
  { placements = 8 }: { readonly placements?: number } = {},
): Promise<Story> {
  let invoices = 0;
  const drafts = await define(
    world,
    { id: "draft-invoice-from-placement" },
    { event: "bullhorn/placement.event" },
    async ({ event, step }) => {
      const placement = await step.run("fetch-placement", () => ({
        id: event.data.placementId,
        client: "Van Dijk Logistics",
        amountCents: 428_000,
      }));
      await Promise.all([
        step.run("load-markup-table", () => ({ rows: 12, markup: 0.21 })),
        step.run("load-holidays", () => ["2026-05-14", "2026-05-25"]),
      ]);
      const draft = await step.run("create-stripe-draft", () => ({
        id: `in_1RPq8x${String.fromCharCode(65 + (invoices % 26))}${++invoices}`,
        customer: "cus_Nf4tV1",
        status: "draft",
        total: placement.amountCents,
        currency: "eur",
        metadata: { placementId: placement.id },
      }));
      await step.waitForEvent("wait-for-approval", {
        event: "invoice/approved",
        timeout: "5d",
        if: "async.data.invoice == event.data.placementId",
      });
      return { invoice: draft.id };
    },
  );
  const payments = await define(
    world,
    { id: "record-stripe-payment", idempotency: "event.data.payment" },
    { event: "stripe/payment.succeeded" },
    async ({ event, step }) => step.run("record", () => ({ recorded: `rec_${event.data.payment.slice(-4)}` })),
  );
  await define(
    world,
    { id: "send-placement-welcome", idempotency: "event.data.candidateId" },
    { event: "agency/candidate.placed" },
    async ({ event, step }) => {
      if (event.data.mailbox === "refused") throw new NonRetriableError("mailbox refused");
      return step.run("send-mail", () => ({ message: `msg_${event.data.candidateId}` }));
    },
  );
  await define(
    world,
    { id: "sync-candidate-to-crm", retries: 3, backoff: () => 3_600_000 },
    { event: "agency/candidate.changed" },
    ({ step }) =>
      step.run("put-candidate", () => {
        throw new Error("503: the CRM is being updated");
      }),
  );
  await define(world, { id: "remind-of-timesheet" }, { event: "agency/week.ended" }, async ({ step }) => {
    await step.run("count-hours", () => ({ hours: 38 }));
    await step.sleep("until-monday", "2d");
    return { reminded: true };
  });

  const pairs: Sent[][] = [];
  for (let i = 0; i < placements; i++) {
    const placementId = 48_213 - i;
    const inserted = await world.send({
      name: "bullhorn/placement.event",
      id: `evt_${placementId}_i`,
      data: { placementId, eventType: "INSERTED", clientId: 118, rate: 92.5 },
    });
    const updated = await world.send({
      name: "bullhorn/placement.event",
      id: `evt_${placementId}_u`,
      data: { placementId, eventType: "UPDATED", clientId: 118, rate: 92.5 },
    });
    pairs.push([inserted, updated]);
  }
  const payment = await world.send({
    name: "stripe/payment.succeeded",
    data: { payment: "pi_3RPq7Lm", amount: 428_000, currency: "eur" },
  });
  for (let i = 0; i < 3; i++)
    await world.send({
      name: "stripe/payment.succeeded",
      data: { payment: "pi_3RPq7Lm", amount: i === 2 ? 482_000 : 428_000, currency: "eur" },
    });
  const first = await world.send({
    name: "stripe/payment.succeeded",
    id: "stripe:evt_1RPpX0c",
    data: { payment: "pi_3RPpX0c", amount: 96_000, currency: "eur" },
  });
  const second = await world.send({
    name: "stripe/payment.succeeded",
    id: "stripe:evt_1RPpX0c",
    data: { payment: "pi_3RPpX0c", amount: 96_000, currency: "eur" },
  });
  const candidate = (candidateId: number, mailbox = "open") =>
    world.send({ name: "agency/candidate.placed", data: { candidateId, mailbox } });
  for (const id of [90_417, 90_416, 90_415]) await candidate(id);
  await candidate(90_417);
  const failed = await candidate(90_411, "refused");
  const retried = await world.send({ name: "agency/candidate.changed", data: { candidateId: 90_416 } });
  const sleeping = await world.send({ name: "agency/week.ended", data: { week: 20 } });
  await world.send({ name: "agency/nobody.listens", data: { note: "No function has this trigger" } });

  const [inserted, updated] = pairs[0]! as [Sent, Sent];
  await Promise.all([
    ...pairs.flat().map((sent) => world.reached(runOf(sent), "waiting")),
    world.reached(runOf(payment), "completed"),
    world.reached(runOf(failed), "failed"),
    world.reached(runOf(sleeping), "waiting"),
    world.reached(runOf(retried), "waiting", "queued"),
  ]);
  return {
    drafts,
    payments,
    doubled: {
      firstRun: runOf(inserted),
      secondRun: runOf(updated),
      firstEvent: inserted.ids[0]!,
      secondEvent: updated.ids[0]!,
    },
    payment: { run: runOf(payment), key: payment.decisions[0]!.key!, event: payment.ids[0]! },
    again: { first: first.ids[0]!, second: second.ids[0]! },
    failed: runOf(failed),
    retried: runOf(retried),
    sleeping: runOf(sleeping),
    waiting: runOf(inserted),
  };
}
