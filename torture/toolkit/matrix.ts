// The crash matrix: SIGKILL at the boundaries of a request's store calls, one seed after the other, each judged by what is left behind.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { startLocalPostgres } from "../../scripts/local-postgres.mjs";
import { root } from "../engine.ts";
import { type Ground, postgresGround, sqliteGround } from "./ground.ts";
import { Life, requestOf, type Told, toldBy } from "./life.ts";
import { type CrashPlan, planOf } from "./matrix-plan.ts";
import { Points } from "./points.ts";
import { type Mode, openShop } from "./shop.ts";

export interface CrashResult {
  readonly plan: CrashPlan;
  /** The points at which its lives died. */
  readonly points: readonly string[];
  /** Charges beyond the first, all under the same key. */
  readonly repeats: number;
  readonly violations: readonly string[];
}

export interface MatrixOptions {
  readonly from: number;
  readonly seeds: number;
  readonly jobs: number;
  readonly onSeed?: (result: CrashResult) => void;
}

export async function runMatrix({ from, seeds, jobs, onSeed }: MatrixOptions): Promise<CrashResult[]> {
  const local = (await import(pathToFileURL(join(root, "scripts", "local-postgres.mjs")).href)) as {
    startLocalPostgres: typeof startLocalPostgres;
  };
  const server = await local.startLocalPostgres();
  const results: CrashResult[] = [];
  let next = from;
  try {
    const lane = async (name: string): Promise<void> => {
      const grounds = { sqlite: await sqliteGround(), postgres: await postgresGround(server.url, name) };
      try {
        while (next < from + seeds) {
          const plan = planOf(next++);
          const result = await crash(plan, grounds[plan.dialect]);
          results.push(result);
          onSeed?.(result);
        }
      } finally {
        await Promise.all(Object.values(grounds).map((ground) => ground.remove()));
      }
    };
    await Promise.all(Array.from({ length: jobs }, (_, i) => lane(`matrix${i}`)));
  } finally {
    await server.remove();
  }
  return results.sort((a, b) => a.plan.seed - b.plan.seed);
}

/** The boundaries an uninterrupted request passes, counted once. */
const lengths = new Map<string, number>();

async function lengthOf(ground: Ground, mode: Mode): Promise<number> {
  const name = `${ground.dialect} ${mode}`;
  const known = lengths.get(name);
  if (known !== undefined) return known;
  const points = new Points(null);
  const shop = await openShop(ground, points);
  // Things done once, such as to open a session, are no boundary.
  await shop.handle(requestOf(origin, { mode, order: `${name}-first`.replaceAll(" ", "-") }));
  points.expect(null);
  points.reach("request");
  await shop.handle(requestOf(origin, { mode, order: `${name}-measured`.replaceAll(" ", "-") }));
  points.reach("answer");
  const { length } = points.passed;
  await shop.close();
  await clear(ground);
  lengths.set(name, length);
  return length;
}

const origin = "http://127.0.0.1";

async function clear(ground: Ground): Promise<void> {
  for (const table of ["idempotency_keys", "orders", "receipts"]) await ground.run(`delete from ${table}`);
}

async function crash(plan: CrashPlan, ground: Ground): Promise<CrashResult> {
  const { mode, seed } = plan;
  const order = `order-${seed}`;
  const length = await lengthOf(ground, mode);
  const before = ground.deaths().length;
  const told: Told[] = [];
  const violations: string[] = [];
  /** Charges when the key said that they were done; no later life may add to them. */
  let safe: number | null = null;

  for (const [i, share] of plan.deaths.entries()) {
    const life = await Life.start(ground);
    const asks = [life.ask({ mode, order, death: { after: Math.floor(share * length) } })];
    if (i === 0) for (let n = 0; n < plan.duplicates; n++) asks.push(life.ask({ mode, order }));
    told.push(...(await Promise.all(asks)));
    await life.end();
    if (safe === null && (await isCharged(ground))) safe = ground.charges(order).length;
    await ground.endLeases();
  }

  const shop = await openShop(ground, new Points(null));
  const ask = async () => toldBy(await shop.handle(requestOf(origin, { mode, order })));
  if (plan.endedBy === "completer") await shop.handle(new Request(`${origin}/complete`, { method: "POST" }));
  told.push(await ask(), await ask());
  await shop.close();

  const keys = ground.charges(order);
  const points = ground.deaths().slice(before);
  const found = { plan, told, keys, safe, lives: plan.deaths.length + 1, ...(await rowsOf(ground)) };
  violations.push(...judge(found));
  await clear(ground);
  return { plan, points, repeats: Math.max(0, keys.length - 1), violations };
}

/** The key says that the charge was made: it has its outcome, or its list of phases went past it. */
async function isCharged(ground: Ground): Promise<boolean> {
  const [row] = await ground.rows("select state, point from idempotency_keys");
  return row !== undefined && (row.state === "completed" || row.point === "charge");
}

async function rowsOf(ground: Ground): Promise<{ orders: number; receipts: number }> {
  const [{ orders, receipts }] = await ground.rows(
    "select (select count(*) from orders) as orders, (select count(*) from receipts) as receipts",
  );
  return { orders: Number(orders), receipts: Number(receipts) };
}

interface Found {
  readonly plan: CrashPlan;
  readonly told: readonly Told[];
  readonly keys: readonly string[];
  readonly safe: number | null;
  readonly lives: number;
  readonly orders: number;
  readonly receipts: number;
}

function judge({ plan, told, keys, safe, lives, orders, receipts }: Found): string[] {
  const { mode } = plan;
  const answers = told.filter((each) => each.kind === "answer");
  const last = answers.at(-1)!;
  const successes = answers.filter(({ status }) => status === 201);
  const isParked = last.status === 409 && /outcome-unknown$/.test(last.body.type);
  const isParking = mode === "park" || mode === "park-in-engine";
  const hasCharges = mode !== "same-transaction";
  const checks: readonly (readonly [string, boolean])[] = [
    ["whoever asks again is answered in the end", last.status === 201 || (isParking && isParked)],
    ["the answer given last is a replay", last.status !== 201 || last.isReplay],
    [
      "all who are told of a success are told the same",
      new Set(successes.map(({ body }) => JSON.stringify(body))).size < 2,
    ],
    [
      "others are told to come back, or that nobody knows",
      // 202: a run that took longer than its route waits, which on a busy machine one may.
      answers.every(
        ({ status, body }) =>
          [201, 409, 503].includes(status) || (mode === "run" && status === 202 && body.retry_after_ms > 0),
      ),
    ],
    ["an order is charged under one key", new Set(keys).size <= 1],
    ["who is told of a success was charged", !hasCharges || successes.length === 0 || keys.length > 0],
    ["each life charges once at most", keys.length <= lives],
    ["what is recorded is not charged again", safe === null || keys.length === safe],
    ["a route that parks charges once at most", !isParking || keys.length <= 1],
    ["in one transaction with its key an order is written once", mode !== "same-transaction" || orders === 1],
    ["each phase writes once", mode !== "phases" || (orders === 1 && receipts === 1)],
  ];
  const facts = JSON.stringify({ plan, told, charges: keys.length, safe, orders, receipts });
  return checks.filter(([, holds]) => !holds).map(([check]) => `${check}: ${facts}`);
}

export function matrixReport(results: readonly CrashResult[]): string {
  const countBy = (names: readonly string[]): [string, number][] =>
    [
      ...names.reduce((counts, name) => counts.set(name, (counts.get(name) ?? 0) + 1), new Map<string, number>()),
    ].sort();
  const lines: [string, number][] = [
    ["seeds", results.length],
    ["kills at a boundary", results.reduce((sum, { points }) => sum + points.length, 0)],
    ...countBy(results.flatMap(({ points }) => points)).map(([n, count]): [string, number] => [`  ${n}`, count]),
    ["charges repeated under their key", results.reduce((sum, { repeats }) => sum + repeats, 0)],
    ...countBy(results.flatMap(({ plan, repeats }) => Array.from({ length: repeats }, () => plan.mode))).map(
      ([mode, count]): [string, number] => [`  ${mode}`, count],
    ),
    ["violations", results.reduce((sum, { violations }) => sum + violations.length, 0)],
  ];
  return lines.map(([name, count]) => `${name.padEnd(40)} ${String(count).padStart(7)}`).join("\n");
}
