// A child of bench/toolkit.ts: everything on one database, once, what is compared side by side; its figures go to the parent as a message. In a
// process of its own, so that neither database inherits the other's heap or compiled code.
import { once } from "node:events";
import { parseArgs } from "node:util";
import { keepInFlight } from "../measure.ts";
import { ask, type Charges, openCharges } from "./charges.ts";
import { asking, claimAndComplete, keptBody } from "./claims.ts";
import { type BenchDatabase, openDatabase, sessions } from "./database.ts";
import { takeExpress } from "./express-load.ts";
import { sqlKeys } from "./idem.ts";
import { type Figure, freshKeys, take, type Window } from "./take.ts";
import { takeWaves, type Waves } from "./waves.ts";

export interface Asked {
  /** For one request: round trips of PostgreSQL, commits of SQLite. */
  readonly fresh: number;
  readonly replay: number;
  readonly orderWithoutKey: number;
  readonly orderFresh: number;
  readonly orderReplay: number;
  /** For one replay of a hot key, so many in flight: those that arrive together ask together. */
  readonly hot16: number;
  readonly hot100: number;
  /** Bytes of log for one replay. */
  readonly replayLogged: number;
}

export interface Round {
  readonly versions: string;
  /** By name; `-1` and `-16` are so many in flight. */
  readonly figures: Readonly<Record<string, Figure>>;
  readonly asked: Asked;
  readonly waves: Readonly<Record<"conflict" | "wait" | "sameTransaction", Waves>>;
}

const { values } = parseArgs({
  options: {
    at: { type: "string" },
    "warm-up": { type: "string" },
    window: { type: "string" },
    kept: { type: "string" },
    waves: { type: "string" },
    only: { type: "string" },
  },
});
const at = values.at!;
const window: Window = { warmUpMs: Number(values["warm-up"]), windowMs: Number(values.window) };
/** Records that replays are asked from. */
const kept = Number(values.kept);
const isWanted = (name: string): boolean => values.only === undefined || name.startsWith(values.only);

// Without a parent nobody would end this.
process.once("disconnect", () => process.exit(1));
const round = await takeRound();
process.removeAllListeners("disconnect");
process.send!(round);
// The parent hangs up when it has the figures.
await once(process, "disconnect");
process.exit(0);

async function takeRound(): Promise<Round> {
  const database = await openDatabase(at);
  const charges = openCharges(database);
  for (let n = 0; n < kept; n++) await ask(charges.keyed, `kept-${n}`, "executed");
  for (let n = 0; n < kept; n++) await ask(charges.keyedOrder, `kept-order-${n}`, "executed");
  await database.settle();
  const figures: Record<string, Figure> = {
    ...(await takeCharges(database, charges, "")),
    ...(await takeOrders(charges)),
    ...(await takeStore(database, "")),
  };
  if (database.dialect === "postgres") {
    const prepared = await openDatabase(at, { prepare: true });
    Object.assign(figures, await takeCharges(prepared, openCharges(prepared), "-prepared"));
    Object.assign(figures, await takeStore(prepared, "-prepared"));
    await prepared.close();
  }
  const cached = openCharges(database, { replayCache: { entries: 1_000 } });
  // Before the others: from then on nothing is awaited that would let an answer of the database come in.
  await ask(cached.keyed, "kept-0", "replayed");
  await measured(figures, "hot-cached", sessions, () => ask(cached.keyed, "kept-0", "replayed"));
  const asked = await countAsked(database);
  const waves = await takeAllWaves(database, charges);
  await database.close();
  if (database.dialect === "postgres" && isWanted("express")) Object.assign(figures, await takeExpress(at, window));
  return { versions: database.versions, figures, asked, waves };
}

async function measured(
  figures: Record<string, Figure>,
  name: string,
  inFlight: number,
  one: (n: number) => Promise<unknown>,
): Promise<void> {
  if (!isWanted(name)) return;
  figures[name] = await take(inFlight, window, one);
  process.stderr.write(".");
}

/** Fresh ones and replays of the middleware, beside the handler alone. */
async function takeCharges(
  { dialect }: BenchDatabase,
  charges: Charges,
  variant: string,
): Promise<Record<string, Figure>> {
  const figures: Record<string, Figure> = {};
  const key = freshKeys(`fresh${variant}`);
  for (const inFlight of [1, sessions]) {
    await measured(figures, `alone${variant}-${inFlight}`, inFlight, () => ask(charges.bare, "any", null));
    const before = charges.executions();
    let asked = 0;
    await measured(figures, `fresh${variant}-${inFlight}`, inFlight, () => {
      asked++;
      return ask(charges.keyed, key(), "executed");
    });
    await measured(figures, `replay${variant}-${inFlight}`, inFlight, (n) =>
      ask(charges.keyed, `kept-${n % kept}`, "replayed"),
    );
    if (charges.executions() !== before + asked) throw new Error("handlers were executed that should not have been");
  }
  await measured(figures, `hot${variant}-${sessions}`, sessions, () => ask(charges.keyed, "kept-0", "replayed"));
  // As many duplicates at once as a wave has, through the same sessions; SQLite answers one after the other anyway.
  if (dialect === "postgres") {
    await measured(figures, `hot${variant}-100`, 100, () => ask(charges.keyed, "kept-0", "replayed"));
  }
  return figures;
}

/** Key and order in one transaction, beside the order's transaction alone. */
async function takeOrders(charges: Charges): Promise<Record<string, Figure>> {
  const figures: Record<string, Figure> = {};
  const key = freshKeys("order");
  for (const inFlight of [1, sessions]) {
    await measured(figures, `order-alone-${inFlight}`, inFlight, () => ask(charges.order, "any", null));
    await measured(figures, `order-fresh-${inFlight}`, inFlight, () => ask(charges.keyedOrder, key(), "executed"));
    await measured(figures, `order-replay-${inFlight}`, inFlight, (n) =>
      ask(charges.keyedOrder, `kept-order-${n % kept}`, "replayed"),
    );
  }
  await measured(figures, `order-hot-${sessions}`, sessions, () => ask(charges.keyedOrder, "kept-order-0", "replayed"));
  return figures;
}

/** The key store by itself, without HTTP around it, beside a row inserted and updated by hand; a claim of a taken key beside a row read by hand. */
async function takeStore({ adapter, floor }: BenchDatabase, variant: string): Promise<Record<string, Figure>> {
  const figures: Record<string, Figure> = {};
  const keys = sqlKeys(adapter);
  const [key, row] = [freshKeys(`store${variant}`), freshKeys(`floor${variant}`)];
  for (const inFlight of [1, sessions]) {
    await measured(figures, `floor-write${variant}-${inFlight}`, inFlight, () => floor.write(row(), keptBody));
    await measured(figures, `claim-complete${variant}-${inFlight}`, inFlight, () => claimAndComplete(keys, key()));
  }
  const [hotRow, hotKey] = [row(), key()];
  await floor.write(hotRow, keptBody);
  await claimAndComplete(keys, hotKey);
  await measured(figures, `floor-read${variant}-${sessions}`, sessions, () => floor.read(hotRow));
  await measured(figures, `claim-hot${variant}-${sessions}`, sessions, async () => {
    const { kind } = await keys.claim(asking(hotKey));
    if (kind !== "duplicate") throw new Error(`a taken key was ${kind}`);
  });
  return figures;
}

/** Counted, not guessed: a few of each, one at a time. */
async function countAsked(database: BenchDatabase): Promise<Asked> {
  const counted = await openDatabase(at, { isCounting: true });
  const charges = openCharges(counted);
  const key = freshKeys("counted");
  const each = async (one: () => Promise<void>): Promise<number> => {
    const many = 20;
    // The first looks for tables, opens a session, and so on.
    await one();
    const before = counted.asked();
    for (let n = 0; n < many; n++) await one();
    return (counted.asked() - before) / many;
  };
  const asked = {
    fresh: await each(() => ask(charges.keyed, key(), "executed")),
    replay: await each(() => ask(charges.keyed, "kept-0", "replayed")),
    orderWithoutKey: await each(() => ask(charges.order, "any", null)),
    orderFresh: await each(() => ask(charges.keyedOrder, key(), "executed")),
    orderReplay: await each(() => ask(charges.keyedOrder, "kept-order-0", "replayed")),
  };
  const hot = async (inFlight: number): Promise<number> => {
    const many = 100 * inFlight;
    const before = counted.asked();
    await keepInFlight(inFlight, many, () => ask(charges.keyed, "kept-0", "replayed"));
    return (counted.asked() - before) / many;
  };
  const shared = { hot16: await hot(16), hot100: await hot(100) };
  const replays = 500;
  const before = await database.logged();
  for (let n = 0; n < replays; n++) await ask(charges.keyed, "kept-0", "replayed");
  const replayLogged = ((await database.logged()) - before) / replays;
  await counted.close();
  return { ...asked, ...shared, replayLogged };
}

async function takeAllWaves(database: BenchDatabase, charges: Charges): Promise<Round["waves"]> {
  const other = await openDatabase(at);
  const apps = [charges, openCharges(other)];
  const waves = Number(values.waves);
  const taken = {
    conflict: await takeWaves(apps, "wave", ({ slow }) => slow, waves),
    wait: await takeWaves(apps, "wave-wait", ({ slowAndWaiting }) => slowAndWaiting, waves),
    sameTransaction: await takeWaves(apps, "wave-order", ({ keyedOrder }) => keyedOrder, waves),
  };
  process.stderr.write(".");
  await other.close();
  await database.settle();
  return taken;
}
