// npm run proof -- <campaign> [options]: tries what the fixed seeds of proof/seeds.json do not. Each campaign draws a new seed, unless one is given, and prints it
// before it begins. What fails is repeated with the command that is printed; its seed belongs in proof/seeds.json.
import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const newSeed = () => randomInt(1, 2 ** 31);

/** Options that begin with one of these say where the campaign begins. */
const optionOf = (args, ...names) =>
  names.some((name) => args.some((arg) => arg === name || arg.startsWith(`${name}=`)));

/** A program of ours, with `--seed`, `--from` or whatever it calls the first seed. */
const program =
  (file, seedOption, ...fixed) =>
  (args) => ({
    args: [
      file,
      ...fixed,
      ...(seedOption === null || optionOf(args, "--seed", "--from", "--help") ? [] : [seedOption, String(newSeed())]),
      ...args,
    ],
  });

/** Tests of the first two tiers, which read their seed from the environment. */
const tests =
  (seedName, env, ...files) =>
  (args) => ({
    args: [join("node_modules", "vitest", "vitest.mjs"), "run", ...files, ...args],
    env: { ...env, ...(seedName === null ? {} : { [seedName]: process.env[seedName] ?? String(newSeed()) }) },
  });

const fuzzTest = ["--project", "integration", "packages/idem/src/server/fuzz"];
const batchesTest = ["--project", "idem", "packages/idem/src/store/postgres/batches-equal-operations.test.ts"];

const campaigns = {
  sim: {
    about: "simulate crashes, lost replies and wrong clocks; --worlds N, --minutes N, --seed N for one",
    run: (args) =>
      program(
        "sim/dist/main.js",
        "--from",
      )(optionOf(args, "--worlds", "--minutes", "--seed", "--help") ? args : [...args, "--worlds", "1000"]),
  },
  crash: {
    about: "kill real processes; --short, --store postgres, --store postgres --apps, --power-loss",
    run: program("torture/dist/main.js", "--seed"),
  },
  "crash-toolkit": {
    about: "kill a process behind Idempotency-Keys at each boundary of a request's store calls; --seeds N",
    run: program("torture/dist/toolkit/main.js", "--from"),
  },
  abuse: {
    about: "attack a built server for ten minutes while honest clients use it; --minutes N, --kind KIND",
    run: program("siege/dist/main.js", null),
  },
  fuzz: {
    about: "send malformed requests to the built server; FUZZ_REQUESTS=1000000, FUZZ_STORE=postgres",
    run: tests("FUZZ_SEED", { FUZZ_REQUESTS: process.env.FUZZ_REQUESTS ?? "60000" }, ...fuzzTest),
  },
  batches: {
    about: "compare PostgreSQL's batches with single operations; IDEM_DIFFERENTIAL_SEQUENCES=5000",
    run: tests(
      "IDEM_DIFFERENTIAL_SEED",
      { IDEM_DIFFERENTIAL_SEQUENCES: process.env.IDEM_DIFFERENTIAL_SEQUENCES ?? "2000" },
      ...batchesTest,
    ),
  },
  properties: {
    about: "run every property test with other inputs",
    run: tests("IDEM_PROPERTY_SEED", {}, "--project", "idem", "--project", "dashboard"),
  },
  stores: {
    about: "run tests of engine, flow options and API on memory, SQLite and PostgreSQL",
    run: tests(
      null,
      { IDEM_TEST_STORES: "all" },
      "--project",
      "idem",
      ...["engine", "flow", "execute", "server/routes"].map((folder) => `packages/idem/src/${folder}`),
    ),
  },
  corpus: {
    about: "verify every pair of the verifier's corpus; --databases, --apps, --process",
    run: program("verify-corpus/main.mjs", null),
  },
  mutants: {
    about: "plant each deliberate defect and print the tier that catches it first; --only NAME",
    run: program("proof/mutants.mjs", null),
  },
};

// At most 15 minutes: run before closing any change of core, store or engine.
const short = [
  ["sim", "--minutes", "4", "--keep-going"],
  ["crash", "--short", "--fresh"],
  ["crash", "--short", "--store", "postgres"],
  ["crash-toolkit", "--seeds", "40"],
  ["batches"],
  ["fuzz"],
];

const [name, ...options] = process.argv.slice(2);
if (name === undefined || name === "--help" || (name !== "short" && !(name in campaigns))) {
  const lines = Object.entries({
    short: { about: "new seeds for all of sim, crash, batches and fuzz, within 15 minutes" },
    ...campaigns,
  });
  console.log(
    `npm run proof -- <campaign> [options]\n\n${lines.map(([each, { about }]) => `  ${each.padEnd(15)}${about}`).join("\n")}`,
  );
  if (name !== undefined && name !== "--help") console.error(`\nThere is no campaign "${name}".`);
  process.exit(name === undefined || name === "--help" ? 0 : 2);
}

const failed = [];
for (const [each, ...args] of name === "short" ? short : [[name, ...options]]) {
  const startedAt = Date.now();
  if (!run(each, args)) failed.push(each);
  if (name === "short") console.log(`${each}: ${Math.round((Date.now() - startedAt) / 1_000)} s\n`);
}
if (failed.length > 0) {
  console.log(`Failed: ${failed.join(", ")}. Repeat with the seed above, and add it to proof/seeds.json.`);
  process.exitCode = 1;
} else if (name === "short") console.log("No campaign failed.");

function run(campaign, args) {
  const { args: command, env = {} } = campaigns[campaign].run(args);
  const variables = Object.entries(env).map(([variable, value]) => `${variable}=${value} `);
  console.log(`proof ${campaign}: ${variables.join("")}node ${command.join(" ")}`);
  const { status } = spawnSync(process.execPath, command, {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  return status === 0;
}
