// A child of bench/postgres.ts: runs of one kind, so many in all, 400 of them sent and not ended; what they cost this process, and the statements
// and round trips they took. Every statement of the engine's goes through the one method of the driver that is counted here.
import type { Client } from "pg";
import type { FunctionOptions, TypedStepTools } from "../../packages/idem/modules/index.js";
import { driverOfPostgres, Idem } from "../engine.ts";
import { keepInFlight } from "../measure.ts";

/** What its runs do between their event and their result: three saved steps, or two and something else, or none and two of it. */
export type Kind = "plain" | "nap" | "sleep" | "sleep-twice" | "wait" | "invoke" | "limited";

export interface KindFigures {
  readonly perSecond: number;
  /** Of this process, for a run. */
  readonly nodeUs: number;
  readonly statements: number;
  /** How often a session that had nothing under way was asked something. */
  readonly roundTrips: number;
}

export type KindSaid = { readonly kind: "opens" } | { readonly kind: "figures"; readonly figures: KindFigures };

// Four times what the engine has at work at once: with 100, runs that sleep for 50 ms would be bound by their sleep, whatever they cost.
const inFlight = 400;
const atOnce = 50;

const counted = { statements: 0, roundTrips: 0 };

/** Counts what goes through a session of the driver, without changing it. */
function countStatements(): void {
  const underWay = new WeakMap<Client, number>();
  const { prototype } = driverOfPostgres().Client;
  const { query } = prototype;
  prototype.query = function (this: Client, ...asked: unknown[]) {
    counted.statements++;
    const before = underWay.get(this) ?? 0;
    if (before === 0) counted.roundTrips++;
    underWay.set(this, before + 1);
    const answer = (query as (...asked: unknown[]) => unknown).apply(this, asked);
    const over = () => underWay.set(this, underWay.get(this)! - 1);
    if (answer instanceof Promise) answer.then(over, over);
    else over();
    return answer;
  } as typeof query;
}

// Longer than a commit takes, so that the run gives its lease back; the nap is over by then.
const sleepMs = 50;
const napMs = 1;

function define(idem: Idem): void {
  type Body = (step: TypedStepTools) => Promise<unknown>;
  const kindOf = (kind: Kind, body: Body, options: Omit<FunctionOptions, "id"> = {}) =>
    idem.createFunction(
      { ...options, id: kind, idempotency: "event.data.n" },
      { event: `bench/${kind}` },
      async ({ event, step }) => ({ n: event.data.n, c: await body(step) }),
    );
  const three: Body = async (step) => {
    const a = await step.run("a", () => 1);
    const b = await step.run("b", () => a + 1);
    return step.run("c", () => b + 1);
  };
  const sleeps =
    (ms: number): Body =>
    async (step) => {
      const a = await step.run("a", () => 1);
      await step.sleep("b", ms);
      return step.run("c", () => a + 2);
    };
  const child = idem.createFunction({ id: "child" }, { event: "bench/child" }, ({ event, step }) =>
    step.run("b", () => (event.data as { a: number }).a + 1),
  );
  kindOf("plain", three);
  kindOf("limited", three, { concurrency: { limit: atOnce } });
  kindOf("nap", sleeps(napMs));
  kindOf("sleep", sleeps(sleepMs));
  kindOf("sleep-twice", async (step) => {
    await step.sleep("a", sleepMs);
    const b = await step.run("b", () => 3);
    await step.sleep("c", sleepMs);
    return b;
  });
  kindOf("wait", async (step) => {
    const a = await step.run("a", () => 1);
    const same = "async.data.n == event.data.n";
    const answer = await step.waitForEvent("b", { event: "bench/answer", if: same, timeout: "1h" });
    return step.run("c", () => a + (answer!.data as { two: number }).two);
  });
  kindOf("invoke", async (step) => {
    const a = await step.run("a", () => 1);
    const b = (await step.invoke("b", { function: child, data: { a } })) as number;
    return step.run("c", () => b + 1);
  });
}

async function started(idem: Idem, kind: Kind, n: number): Promise<string> {
  const { decisions } = await idem.send({ name: `bench/${kind}`, id: `${kind} ${n}`, data: { n } });
  return decisions[0]!.runId!;
}

async function ended(idem: Idem, runId: string, n: number): Promise<void> {
  const { output } = await idem.runs.wait(runId);
  const { n: told, c } = output as { n: number; c: number };
  if (told !== n || c !== 3) throw new Error(`run ${n} gave ${JSON.stringify(output)}`);
}

/** So many runs of a kind, from `first` on. */
async function take(idem: Idem, kind: Kind, first: number, total: number): Promise<number> {
  const before = performance.now();
  if (kind === "wait") {
    // An answer that comes before its wait is nobody's: all of them wait first.
    const runIds: string[] = [];
    await keepInFlight(inFlight, total, async (i) => {
      runIds[i] = await started(idem, kind, first + i);
    });
    await idem.idle();
    await keepInFlight(inFlight, total, async (i) => {
      await idem.send({ name: "bench/answer", data: { n: first + i, two: 2 } });
      await ended(idem, runIds[i]!, first + i);
    });
  } else {
    await keepInFlight(inFlight, total, async (i) => ended(idem, await started(idem, kind, first + i), first + i));
  }
  return (total / (performance.now() - before)) * 1_000;
}

const [store, kind, total] = process.argv.slice(2) as [string, Kind, string];
const runs = Number(total);
countStatements();
const idem = new Idem({ id: "bench", store });
define(idem);
await idem.start();
// Plans, compilers and sessions are warm before anything is counted.
await take(idem, kind, 0, runs);
await idem.idle();
process.send!({ kind: "opens" } satisfies KindSaid);
Object.assign(counted, { statements: 0, roundTrips: 0 });
const cpu = process.cpuUsage();
const perSecond = await take(idem, kind, runs, runs);
const { user, system } = process.cpuUsage(cpu);
const { statements, roundTrips } = counted;
const figures: KindFigures = {
  perSecond,
  nodeUs: (user + system) / runs,
  statements: statements / runs,
  roundTrips: roundTrips / runs,
};
process.send!({ kind: "figures", figures } satisfies KindSaid);
await idem.stop();
process.exit(0);
