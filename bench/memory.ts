// npm run bench:memory [-- --count 1000000] [--json out.json]
// What a process holds for runs that sleep, on SQLite: the one that started them, and one that opened the store afterwards, each after a full
// collection. Bytes do not depend on what else the machine does.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { describeMachine } from "./machine.ts";
import { printRows, round } from "./take-figures.ts";
import { fill, onFreshFile, withEngine } from "./world.ts";

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "100000" },
    json: { type: "string" },
    /** For a child: what it does to the store at this path. */
    path: { type: "string" },
    part: { type: "string" },
  },
});
const count = Number(values.count);
if (!Number.isSafeInteger(count) || count < 1) {
  throw new Error(`--count ${values.count}: say how many runs sleep, as a number above 0`);
}

interface Held {
  readonly rssMb: number;
  readonly heapMb: number;
  readonly externalMb: number;
}

async function held(): Promise<Held> {
  // Objects just let go of may be freed by callbacks, which have their turn between two collections.
  for (let turn = 0; turn < 5; turn++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rssMb: rss / 2 ** 20, heapMb: heapUsed / 2 ** 20, externalMb: external / 2 ** 20 };
}

if (values.path !== undefined) {
  const answer = await withEngine(values.path, { key: false, runsInFlight: 2_000 }, async (idem) => {
    const before = await held();
    const until = new Date(Date.now() + 30 * 86_400_000).toISOString();
    if (values.part === "start") await fill(idem, count, () => ({ name: "bench/sleep", data: { until } }));
    else await idem.idle();
    return { before, after: await held() };
  });
  process.stdout.write(`${JSON.stringify(answer)}\n`);
  process.exit(0);
}

type Part = { readonly before: Held; readonly after: Held };

await onFreshFile(async (path) => {
  const take = (part: "empty" | "start" | "open"): Part => {
    process.stderr.write(`  ${part}…\n`);
    const child = spawnSync(
      process.execPath,
      ["--expose-gc", fileURLToPath(import.meta.url), "--path", path, "--part", part, "--count", String(count)],
      { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] },
    );
    if (child.status !== 0) throw new Error(`the process of part "${part}" ended with ${child.status ?? child.signal}`);
    return JSON.parse(child.stdout.trim().split("\n").at(-1)!) as Part;
  };
  const taken = { empty: take("empty"), start: take("start"), open: take("open") };
  const machine = describeMachine();
  console.log(
    `\n${count.toLocaleString("en-US")} sleeping runs, Node ${machine.node}, ${machine.commit}, SQLite on a file\n`,
  );
  const mb = ({ rssMb, heapMb, externalMb }: Held) => `${round(rssMb)} / ${round(heapMb)} / ${round(externalMb)}`;
  const perRun = (part: Part) =>
    `${Math.round(((part.after.heapMb - part.before.heapMb) * 2 ** 20) / count)} bytes of heap for each`;
  printRows([
    ["MB resident / heap / outside of it: no run", mb(taken.empty.after), ""],
    ["the process that started them", mb(taken.start.after), perRun(taken.start)],
    ["one that opened them", mb(taken.open.after), "aim ≤ 100 at 100,000, ≤ 300 at 1,000,000"],
  ]);
  if (values.json !== undefined) writeFileSync(values.json, JSON.stringify({ machine, count, taken }, null, 2));
});
