// Part of npm run proof -- mutants: proof that the corpus bites. Deliberate defects of the verifier, one at a time, in a copy of what was built; with each
// of them the pairs named beside it must not come out right any more. Without any, they must.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({ options: { only: { type: "string", default: "" } } });
const corpus = dirname(fileURLToPath(import.meta.url));
const root = join(corpus, "..");
// Beneath the packages that the copies import, and in no `node_modules`: what stands there is nobody's line.
const folder = join(root, ".verify-mutants");

const defects = [
  {
    name: "an effect is not watched",
    pairs: ["zombie-put"],
    patches: [["worker/carry-on-model.js", "if (isRead(request))", 'if (isRead(request) || request.method === "PUT")']],
  },
  {
    name: "a death is an exception",
    pairs: ["death-is-silent"],
    patches: [["worker/world.js", "kill(life, why) {\n        life.die();", "kill(life, why) {"]],
  },
  {
    name: "calls are counted instead of things",
    pairs: ["no-key"],
    patches: [
      [
        "destination-model.js",
        "return { ...first.answer, isRepeat: true };",
        "this.write(request, body, maker, given); return { ...first.answer, isRepeat: true };",
      ],
    ],
  },
  {
    name: "the twin is left out",
    pairs: ["wide-key"],
    patches: [["schedules.js", "(facts.hasTwin ? twins : [])", "(facts.hasTwin ? [] : [])"]],
  },
  {
    name: "a module survives its process",
    pairs: ["memory-dedup-imported"],
    patches: [["worker/life-hooks.js", "if (of === undefined ||", 'if (resolved.url.includes("seen") ||']],
  },
  {
    name: "a module that is known from its first life survives",
    pairs: ["memory-dedup-imported"],
    patches: [
      [
        "worker/known-modules.js",
        "const before = this.made.get(url);",
        'const before = this.made.get(url) ?? (url.includes("seen") ? globalThis.survived : undefined);',
      ],
      [
        "worker/known-modules.js",
        "this.made.set(url, made);",
        'this.made.set(url, made); if (url.includes("seen")) globalThis.survived = made;',
      ],
    ],
  },
  {
    name: "an effect is counted in the world that happens to be played",
    pairs: ["late-timer", "buffered-in-memory"],
    patches: [
      [
        "worker/thread.js",
        "return caller.life.options.home.effect(caller, about, apply);",
        "return playing.effect({ ...caller, life: playing.living ?? caller.life }, about, apply);",
      ],
      ["worker/replace-globals.js", "if (life === null || typeof run", "if (life !== undefined || typeof run"],
    ],
  },
  {
    name: "what is missing is no fault",
    pairs: ["swallowed-failure"],
    patches: [["judge.js", "judgeLess(world, difference, clean) ??", ""]],
  },
  {
    name: "the number of things counts, and not their state",
    pairs: ["zombie-put"],
    patches: [["compare-things.js", "else if (!right.has(whole) &&", "else if (false &&"]],
  },
  {
    name: "a field that nobody gave is taken for one that is not there",
    pairs: ["field-nobody-gave"],
    patches: [["worker/absent-fields.js", "if (reader !== null)", "if (false)"]],
  },
  {
    name: "whoever looks whether a field is there is told that nobody gave it",
    pairs: ["field-nobody-gave"],
    patches: [["judge.js", "absent.filter(({ isUsed }) => isUsed)", "absent"]],
  },
  {
    name: "what is waited for has the run's own data and nothing else",
    pairs: ["wait-by-condition"],
    patches: [["awaited-event.js", "...waysTo(expression.root, true, scope)", ""]],
  },
  {
    name: "a parked effect is taken for one that is missing",
    pairs: ["effect-parked"],
    patches: [["judge.js", "parked.length > 0 ||", ""]],
  },
  {
    name: "nobody calls a handler again",
    pairs: ["endpoint-rerun"],
    patches: [["worker/senders.js", "if (tries >= triesMax[sender])", "if (tries >= 0)"]],
  },
  {
    name: "what a sender was told is not asked",
    pairs: ["endpoint-other-body"],
    patches: [["calls/judge-calls.js", "judgeRefused(world, plan) ??", ""]],
  },
  {
    name: "a second name is not delivered",
    pairs: ["webhook-second-name"],
    patches: [["calls/call-plans.js", 'others.includes("other-name")', "others.length === 0"]],
  },
  {
    name: "the next tick is no new work",
    pairs: ["tick-constant-key"],
    patches: [["calls/judge-calls.js", "expected.length < 2 ||", "expected.length > 0 ||"]],
  },
  {
    name: "statements are counted instead of rows",
    pairs: ["sqlite-blind-insert"],
    shelf: ["--databases"],
    patches: [
      [
        "worker/sql/sqlite-world.js",
        "return rowThings(name, changesBetween(before, after), this.writes.all(), this.events);",
        'return rowThings(name, changesBetween(before, after), this.writes.all(), this.events) && this.writes.all().map(({ table, fn, effect }) => ({ watcher: "sql", destination: name, path: [table], isAddressed: false, state: null, by: fn, effect, made: [] }));',
      ],
    ],
  },
  {
    name: "a database is not put back before a world",
    pairs: ["sqlite-blind-insert"],
    shelf: ["--databases"],
    patches: [
      [
        "worker/sql/sqlite-world.js",
        "copySqlite(real, found.image, at);",
        "if (!real.existsSync(at)) copySqlite(real, found.image, at);",
      ],
    ],
  },
  {
    name: "a commit of the user's is no place to die",
    pairs: ["sqlite-commit-unknown"],
    shelf: ["--databases"],
    patches: [["worker/sql/sqlite-world.js", 'text.kind === "commit" || changes', "changes"]],
  },
];

function run(pairs, patches, shelf = []) {
  rmSync(folder, { recursive: true, force: true });
  const copy = join(folder, "node_modules", "idem");
  mkdirSync(copy, { recursive: true });
  cpSync(join(root, "packages", "idem", "modules"), join(copy, "dist"), { recursive: true });
  symlinkSync(join(copy, "dist"), join(copy, "modules"), "junction");
  cpSync(join(root, "packages", "idem", "package.json"), join(copy, "package.json"));
  cpSync(corpus, join(folder, "verify-corpus"), { recursive: true });
  for (const [file, from, to] of patches) {
    const path = join(copy, "dist", "verify", file);
    const text = readFileSync(path, "utf8");
    if (text.split(from).length !== 2)
      throw new Error(`expected once in ${file}: ${from}; adapt the defect to the code`);
    writeFileSync(
      path,
      text.replace(from, () => to),
    );
  }
  const args = [
    join(folder, "verify-corpus", "main.mjs"),
    "--json",
    ...shelf,
    ...pairs.flatMap((pair) => ["--only", pair]),
  ];
  const told = spawnSync(process.execPath, args, { encoding: "utf8" });
  const line = told.stdout.trim().split("\n").at(-1) ?? "";
  if (!line.startsWith("{"))
    return { status: told.status, missed: [], alarmed: [], why: told.stderr.trim().split("\n").at(-1) };
  return { status: told.status, ...JSON.parse(line) };
}

const chosen = defects.filter(({ name }) => name.includes(values.only));
for (const shelf of [[], ["--databases"]]) {
  const those = chosen.filter((each) => (each.shelf ?? []).join() === shelf.join());
  if (those.length === 0) continue;
  const healthy = run([...new Set(those.flatMap(({ pairs }) => pairs))], [], shelf);
  if (healthy.status !== 0) throw new Error(`without a defect the corpus is not right: ${JSON.stringify(healthy)}`);
}
let escaped = 0;
for (const { name, pairs, patches, shelf } of chosen) {
  const { status, missed, alarmed, why } = run(pairs, patches, shelf);
  if (status === 0) escaped++;
  const by = [...missed.map((each) => `${each} missed`), ...alarmed.map((each) => `${each} alarmed`)].join(", ");
  // The corpus test of that tier verifies a pair with everything there is before it misses a fault.
  const isTested = missed.some((pair) => existsSync(join(corpus, pair)));
  const tier = status === 0 ? "NOT CAUGHT" : isTested ? "integration" : "npm run proof";
  console.log(`${tier.padEnd(14)} ${name.padEnd(62)} ${by || why || ""}`);
}
rmSync(folder, { recursive: true, force: true });
console.log(`${chosen.length - escaped} of ${chosen.length} defects of the verifier caught by its corpus`);
process.exitCode = escaped > 0 ? 1 : 0;
