// Power loss: a victim's writes and syncs are traced, and replayed into every kind of disk it may find after a cut. Cuts come
// right after a promise, when nothing promised may be pending, and right before a sync, when most is. With synchronous=FULL nothing promised may be missing. With NORMAL something must be, or this test
// would not notice (docs/reference/stores.md#durability-of-a-file).
import { spawn, spawnSync } from "node:child_process";
import { createReadStream, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { Chance } from "./chance.ts";
import { Disk, lossModes } from "./disk.ts";
import { type EngineUnderTest, loadEngine, program } from "./engine.ts";
import type { PowerLife, Promised } from "./power-victim.ts";
import { hashOf } from "./records.ts";
import { type DiskCall, StraceReader, tracedCalls } from "./strace-log.ts";

export interface PowerLossOptions {
  readonly engine: string;
  readonly seed: number;
  readonly runs: number;
  readonly synchronous: "FULL" | "NORMAL";
  /** At most this many instants are looked at, evenly spread over all promises and syncs. */
  readonly cutsMax: number;
  readonly onCut?: (done: number, of: number) => void;
}

export interface PowerLossResult {
  readonly promises: number;
  readonly cuts: number;
  readonly images: number;
  readonly writes: number;
  readonly syncs: number;
  /** Images in which something promised was missing or changed. */
  readonly lossyImages: number;
  readonly worstLoss: number;
  readonly damagedImages: number;
  readonly examples: readonly string[];
}

// A tool of the machine, not of a package: it may be missing.
const tracer: string = "strace";

/** Why power loss cannot be tested on this machine; null when it can. */
export function whyNoTrace(): string | null {
  const { error, status, stderr } = spawnSync(tracer, ["-f", "-o", "/dev/null", "true"], { encoding: "utf8" });
  if (error !== undefined) return "strace is not installed (apt-get install strace)";
  return status === 0 ? null : `strace cannot trace here: ${stderr.trim()}`;
}

export async function losePower(options: PowerLossOptions): Promise<PowerLossResult> {
  const folder = mkdtempSync(join(tmpdir(), "idem-power-"));
  try {
    const log = await trace(folder, options);
    return await replay(folder, log, options);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function trace(folder: string, { engine, runs, synchronous }: PowerLossOptions): Promise<string> {
  const log = join(folder, "strace.log");
  const life: PowerLife = { folder, engine, runs, synchronous };
  // The longest write is a page of 4 KiB or a transaction's worth of them; a cut one is noticed.
  const flags = ["-f", "-xx", "-s", "1048576", "-e", `trace=${tracedCalls.join(",")}`, "-e", "signal=none", "-o", log];
  const args = [...flags, process.execPath, program("power-victim"), JSON.stringify(life)];
  const child = spawn(tracer, args, { stdio: ["ignore", "inherit", "inherit"] });
  const code = await new Promise((resolve, reject) => child.once("exit", resolve).once("error", reject));
  if (code !== 0) throw new Error(`The traced process ended with ${code}`);
  return log;
}

async function replay(folder: string, log: string, options: PowerLossOptions): Promise<PowerLossResult> {
  const engine = await loadEngine(options.engine);
  const chance = new Chance(options.seed, "power");
  const acks = join(folder, "acks");
  const store = join(folder, "idem.db");
  // The lock and the socket are the operating system's; the index of the log is made anew from the log.
  const isStore = (path: string) =>
    path === folder ||
    path === store ||
    path === `${store}-wal` ||
    path === `${store}-journal` ||
    path.startsWith(`${store}-counter`);
  const isInstant = (call: DiskCall) => call.kind === "sync" || (call.kind === "append" && call.path === acks);
  const newReader = () => new StraceReader((path) => isStore(path) || path === acks);
  const instantCount = await count(log, newReader(), isInstant);
  const every = Math.max(1, Math.ceil(instantCount / options.cutsMax));
  const disk = new Disk();
  const promised: Promised[] = [];
  const result = { cuts: 0, images: 0, lossyImages: 0, worstLoss: 0, damagedImages: 0, examples: [] as string[] };
  const cut = (): void => {
    result.cuts++;
    for (const mode of lossModes) {
      result.images++;
      const { lost, damage } = judge(disk.image(mode, chance), promised, engine, options.synchronous);
      if (lost.length > 0) result.lossyImages++;
      if (damage.length > 0) result.damagedImages++;
      result.worstLoss = Math.max(result.worstLoss, lost.length);
      if (lost.length + damage.length > 0 && result.examples.length < 5) {
        const found = [...damage, ...lost].slice(0, 3).join("; ");
        result.examples.push(`after ${promised.length} promises, ${mode}: ${found}`);
      }
    }
    options.onCut?.(result.cuts, Math.floor(instantCount / every));
  };

  const reader = newReader();
  let instants = 0;
  for await (const line of linesOf(log)) {
    for (const call of reader.read(line)) {
      const isPromise = call.kind === "append" && call.path === acks;
      if (isPromise) promised.push(JSON.parse(call.bytes.toString()));
      if (isInstant(call) && ++instants % every === 0) cut();
      if (!isPromise) disk.apply(call);
    }
  }
  return { promises: promised.length, ...disk.counts, ...result };
}

async function count(log: string, reader: StraceReader, isCounted: (call: DiskCall) => boolean): Promise<number> {
  let counted = 0;
  for await (const line of linesOf(log)) for (const call of reader.read(line)) if (isCounted(call)) counted++;
  return counted;
}

const linesOf = (log: string) => createInterface({ input: createReadStream(log), crlfDelay: Number.POSITIVE_INFINITY });

// ------------------------------------------------------------------------------------------------ one image

/** In memory where there is such a disk: an image is read once and its own syncs prove nothing. */
const imagesFolder = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** Opens an image as the next owner would, and looks for everything that was promised. */
function judge(
  image: ReadonlyMap<string, Buffer>,
  promised: readonly Promised[],
  { SqliteCore, openReadOnlyStore, health, migrations, nodePlatform }: EngineUnderTest,
  synchronous: PowerLossOptions["synchronous"],
): { readonly lost: string[]; readonly damage: string[] } {
  const folder = mkdtempSync(join(imagesFolder, "idem-image-"));
  try {
    for (const [path, bytes] of image) writeFileSync(join(folder, basename(path)), bytes);
    const path = join(folder, "idem.db");
    const core = new SqliteCore({ path, migrations, clock: nodePlatform, owner: "after the cut" });
    const lost = promised
      .filter((fact) => !isKept(fact, core.reads))
      .map((fact) => `${fact.kind} is gone: ${nameOf(fact)}`);
    core.close();
    const { connection } = openReadOnlyStore({ path, migrations, clock: nodePlatform });
    const damage = health.checkIntegrity(connection, "full");
    connection.close();
    // The counter next to the store is written behind its commits: it never knows of one that a power cut takes away.
    if (core.rollback !== null && synchronous === "FULL") damage.push("the store takes itself for an older copy");
    return { lost, damage };
  } catch (error) {
    return { lost: [], damage: [`the store does not open: ${(error as Error).message}`] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const nameOf = (fact: Promised): string =>
  fact.kind === "event" ? fact.id : fact.kind === "step" ? `${fact.run} ${fact.step}` : fact.run;

type Reads = InstanceType<EngineUnderTest["SqliteCore"]>["reads"];

function isKept(fact: Promised, reads: Reads): boolean {
  const env = "default";
  switch (fact.kind) {
    case "event": {
      const event = reads.event(env, fact.id);
      return event !== null && hashOf(event.data) === fact.hash;
    }
    case "step": {
      const step = reads.runMemo(env, fact.run)?.steps.find(({ name }) => name === fact.step);
      return step !== undefined && hashOf(step.outcome.json) === fact.hash;
    }
    case "end": {
      const run = reads.run(env, fact.run);
      return run?.state === "completed" && hashOf(run.result!) === fact.hash;
    }
  }
}
