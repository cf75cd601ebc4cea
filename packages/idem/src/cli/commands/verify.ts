// idem verify: if this ran twice, would there be two of something?

import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join, relative } from "node:path";
import { nearestWord } from "../../model/nearest-word.ts";
import { type ChosenEvent, eventOfSchema, reaching } from "../../verify/choose-event.ts";
import { type Answer, coldFactor, PlayingThreads } from "../../verify/playing-threads.ts";
import { mergeRecordings, readHost, writeRecordings } from "../../verify/recordings.ts";
import { exitCodeOf, jsonOf, type VerifyReport } from "../../verify/report.ts";
import { readSchedule } from "../../verify/schedules.ts";
import { noConfiguration, readConfiguration, type VerifyConfiguration } from "../../verify/verify-configuration.ts";
import { quoted, type Verified, verifyProgram } from "../../verify/verify-program.ts";
import { placeIn } from "../../verify/worker/caller.ts";
import type { DescribedFunction } from "../../verify/worker/messages.ts";
import { isOurs } from "../../verify/worker/our-folder.ts";
import { type Command, type Context, countOption, durationOption, storeOptions } from "../command.ts";
import { Refusal } from "../exit.ts";
import { printable } from "../printable.ts";
import { showProgress } from "../progress.ts";
import { showReport } from "../show-verdicts.ts";
import {
  eventsOfStore,
  findConfiguration,
  findModules,
  memoryName,
  readEvents,
  readMemoryOf,
  readRecordingsOf,
  readSource,
  recordingsName,
} from "../verify-inputs.ts";

const unable = 3;
const cannot = (message: string): Refusal => new Refusal(unable, message);
const budgetMs = 10_000;
/** Real time in which a world is played: more is an endless loop. */
const answerMsMax = 15_000;

export const verify: Command = {
  name: "verify",
  summary: "say of functions whether there would be two of something if they ran twice",
  usage:
    "[module…] [--function <id>] [--event <file.json> | --from-store [address] | --generate] [--record <host>] [--schedule <name>] [--seed <1>] [--budget <10s>] [--reporter <text | json>]",
  words: { min: 0, max: 1_000 },
  options: {
    function: { value: "id", help: "only this function; may be repeated", isMany: true },
    event: { value: "file.json", help: "an event, or a list of them: only the functions they reach are verified" },
    "from-store": {
      value: "address",
      help: "the newest event each function had, its values left out of reports; the store is only read",
      looks: /^(sqlite:|postgres(ql)?:\/\/)/i,
    },
    generate: { help: "events made up from the schemas the client has for them" },
    record: {
      value: "host[:port]",
      help: "a sandbox that may really be asked, once for each function; its answers are kept in idem.verify.recordings.json; may be repeated",
      isMany: true,
    },
    schedule: { value: "name", help: "only what goes wrong under this name; may be repeated", isMany: true },
    seed: { value: "1", help: "another chance for the code, and other ids" },
    budget: { value: "10s", help: "how long pairs of things that go wrong are played, of all functions together" },
    reporter: { value: "text | json", help: "for people, or one JSON document", choices: ["text", "json"] },
    json: storeOptions.json!,
  },
  details: [
    "Each function is run, unmodified, in many small worlds in which something goes wrong: deliveries twice, deaths before and after every effect,",
    "lost answers, failures. What the outside holds then is compared with one clean run. Nothing leaves the process but what --record allows:",
    "destinations are models, the configured store is not opened, and what the code prints goes to standard error. idem.verify.ts configures it,",
    "idem.verify.json remembers what failed and what a person accepted. docs/verify.md has it all.",
  ],
  examples: [
    "idem verify src/functions.ts --event placement.json",
    "idem verify src/functions.ts --from-store sqlite:.idem/shop.db --function draft-invoice",
    "idem verify src/functions.ts --generate --reporter json",
    "idem verify src/functions.ts --event placement.json --record sandbox.crm.example",
    "idem verify src/functions.ts --event placement.json --function draft-invoice --schedule die-after-effect:2 --seed 1",
  ],
  exits: {
    list: [
      [0, "all held, or what was found is accepted"],
      [1, "something doubled, was lost, half done or diverged, or an accepted effect is over or not found"],
      [2, "something is unproven, and nothing is wrong"],
      [unable, "it could not run"],
    ],
    unable,
  },
  async run(context) {
    const isJson = readReporter(context);
    const threads = new PlayingThreads({
      platform: context.io.platform,
      loader: "typescript",
      size: Math.max(1, Math.min(8, availableParallelism())),
      answerMsMax,
    });
    try {
      const report = await verifyAll(context, threads);
      if (isJson) context.json(jsonOf(report, (file) => relative(context.io.cwd, file)));
      else showReport(context, report);
      return exitCodeOf(report);
    } finally {
      await threads.close();
    }
  },
};

function readReporter({ options, isJson }: Context): boolean {
  const { reporter = isJson ? "json" : "text" } = options;
  if (reporter !== "text" && reporter !== "json")
    throw cannot(`--reporter is "${printable(reporter)}"; it is text or json.`);
  return reporter === "json";
}

interface Program {
  readonly modules: readonly string[];
  readonly functions: readonly DescribedFunction[];
  readonly configuration: VerifyConfiguration;
}

async function verifyAll(context: Context, threads: PlayingThreads): Promise<VerifyReport> {
  const { io, lists, options, flags } = context;
  const ways = ["event", "from-store"].filter((name) => options[name] !== undefined);
  if (flags.has("generate")) ways.push("generate");
  if (ways.length > 1) throw cannot(`Give one of ${ways.map((name) => `--${name}`).join(" and ")}.`);
  const schedules = lists.schedule ?? null;
  const strange = schedules?.find((name) => readSchedule(name) === null);
  if (strange !== undefined) {
    throw cannot(`There is no schedule "${printable(strange)}". docs/verify.md lists them; a finding names its own.`);
  }
  const recordHosts = readHosts(context);
  const seed = countOption(context, "seed", 1, 1_000_000);
  const budget = options.budget === "0" ? 0 : durationOption(context, "budget", budgetMs);
  const memory = readMemoryOf(io.cwd);
  const recordings = readRecordingsOf(io.cwd);
  const given = options.event === undefined ? null : readEvents(io.cwd, options.event);
  const program = await loadProgram(context, threads);
  const asked = askedFunctions(program.functions, lists.function ?? null);
  const wanted = await withEvents(context, program.configuration, asked, given);
  let progress: { readonly id: string; readonly shown: ReturnType<typeof showProgress> } | null = null;
  const verified = await verifyProgram({
    ...program,
    threads,
    platform: io.platform,
    wanted,
    memory,
    recordings,
    recordHosts,
    budgetMs: budget,
    seed,
    schedules,
    isWhole: schedules === null && wanted.length === program.functions.filter(({ handlesEnd }) => !handlesEnd).length,
    readSource,
    repeatOf: (id) => repeatOf(context, id),
    onPlayed: (id, played, known) => {
      if (progress?.id !== id) progress = { id, shown: showProgress(io, printable(id)) };
      progress.shown.update(Math.min(played, known), known);
    },
    onVerified: () => progress?.shown.end(),
  });
  if (schedules === null && verified.memory !== memory) {
    writeFileSync(join(io.cwd, memoryName), `${JSON.stringify(verified.memory, null, 2)}\n`);
  }
  if (recordHosts.length > 0) keepRecorded(context, recordHosts, recordings, verified.recorded);
  return verified.report;
}

/** Those of `--record`. */
function readHosts({ lists, options }: Context): string[] {
  const written = lists.record ?? [];
  // Answers about real people are not committed.
  if (written.length > 0 && options["from-store"] !== undefined) {
    throw cannot(
      "--record keeps answers in a file that is committed, and --from-store asks with real data: give --event.",
    );
  }
  return written.map((each) => {
    const host = readHost(each);
    if (host !== null) return host;
    throw cannot(
      `--record is "${printable(each)}"; it is the name of a host, with its port if it has one of its own: sandbox.example, localhost:4010.`,
    );
  });
}

function keepRecorded(
  { io, remark }: Context,
  hosts: readonly string[],
  before: Verified["recorded"],
  recorded: Verified["recorded"],
): void {
  for (const host of hosts) {
    if (!recorded.some((each) => each.host === host)) {
      remark(`Nothing was recorded of ${host}: no clean run that completed asked it.`);
    }
  }
  if (recorded.length === 0) return;
  writeFileSync(join(io.cwd, recordingsName), writeRecordings(mergeRecordings(before, recorded)));
  remark(`What was answered is in ${recordingsName}: look through it, and commit it.`);
}

/** The words that come to the same function again. */
function repeatOf({ words, options, flags }: Context, id: string): string {
  const address = options["from-store"];
  return [
    "idem verify",
    ...words.map(quoted),
    `--function ${quoted(id)}`,
    ...(options.event === undefined ? [] : [`--event ${quoted(options.event)}`]),
    // An address may hold a password.
    ...(address === undefined
      ? []
      : [address === "" || !address.startsWith("sqlite:") ? "--from-store" : `--from-store ${quoted(address)}`]),
    ...(flags.has("generate") ? ["--generate"] : []),
  ].join(" ");
}

async function loadProgram({ io, words }: Context, threads: PlayingThreads): Promise<Program> {
  const file = findConfiguration(io.cwd);
  if (words.length === 0 && file === null) {
    throw cannot(
      "Which modules? Name those that define functions: idem verify src/functions.ts. Or write an idem.verify.ts that loads them.",
    );
  }
  const before = file === null ? [] : [file];
  let modules = [...before, ...findModules(words, io.cwd)];
  let described = await describe(io.cwd, threads, modules);
  let configuration = configurationOf(file, described.configuration);
  if (words.length === 0 && configuration.modules.length > 0) {
    modules = [...before, ...findModules(configuration.modules, dirname(file!))];
    described = await describe(io.cwd, threads, modules);
    configuration = configurationOf(file, described.configuration);
  }
  const { functions, clients } = described;
  const names = modules.map((path) => relative(io.cwd, path)).join(", ");
  if (clients.length === 0)
    throw cannot(`${names} constructed no Idem: name the module in which your client is made, or one that imports it.`);
  if (functions.length === 0) throw cannot(`${names} defined no function: name the modules that call createFunction.`);
  const twice = functions.find(
    (each, i) => functions.findIndex(({ fn, env }) => fn === each.fn && env === each.env) < i,
  );
  if (twice !== undefined) {
    throw cannot(
      `"${twice.config.id}" is defined twice in ${names}, and of two with one name only one would run: verify their modules one after the other.`,
    );
  }
  const own = clients.filter((each) => each.functions > 0);
  const alike = own.find(({ app, env }, i) => own.findIndex((each) => each.app === app && each.env === env) < i);
  if (alike !== undefined) {
    throw cannot(
      `${names} constructed two clients with the id "${alike.app}", and of two with one id only the functions of one would run: give each an id of its own, or verify their modules one after the other.`,
    );
  }
  return { modules, functions, configuration };
}

function configurationOf(file: string | null, written: unknown): VerifyConfiguration {
  if (file === null) return noConfiguration;
  const read = readConfiguration(written);
  if (typeof read === "string") throw cannot(`${file}: ${read}${read.endsWith("?") ? "" : "."}`);
  return read;
}

type Described = Extract<Answer, { kind: "described" }>;

async function describe(cwd: string, threads: PlayingThreads, modules: readonly string[]): Promise<Described> {
  const answer = await threads.ask({ kind: "describe", modules });
  if (answer.kind === "described") return answer;
  // Which of them? Each by itself.
  for (const path of modules.length > 1 ? modules : []) {
    const alone = await threads.ask({ kind: "describe", modules: [path] });
    if (alone.kind !== "described") throw notLoaded(cwd, relative(cwd, path), alone);
  }
  throw notLoaded(cwd, modules.map((path) => relative(cwd, path)).join(", "), answer);
}

function notLoaded(cwd: string, name: string, answer: Answer): Refusal {
  switch (answer.kind) {
    case "stuck":
      return cannot(
        `${name} does not come to its end: after ${(answerMsMax * coldFactor) / 1_000} s it was still being loaded. Look for a loop, or an await at the top that nothing answers.`,
      );
    case "failed": {
      const place = placeIn(answer.stack, isOurs);
      const where = place === null ? "" : ` (${relative(cwd, place.file)}:${place.line})`;
      return cannot(`${name} cannot be loaded: ${answer.why}${where}`);
    }
    case "gone":
      return cannot(`${name} cannot be loaded: its thread ended (${answer.why}).`);
    default:
      return cannot(`${name} cannot be loaded.`);
  }
}

function askedFunctions(all: readonly DescribedFunction[], ids: readonly string[] | null): DescribedFunction[] {
  const own = all.filter(({ handlesEnd }) => !handlesEnd);
  if (ids === null) return own;
  return ids.flatMap((id) => {
    const found = own.filter(({ fn, config }) => config.id === id || fn === id);
    if (found.length > 0) return found;
    const near = nearestWord(
      id,
      own.map(({ config }) => config.id),
    );
    throw cannot(
      `There is no function "${printable(id)}" in these modules.${near === null ? "" : ` Did you mean "${near}"?`}`,
    );
  });
}

async function withEvents(
  { io, options, flags }: Context,
  { functions }: VerifyConfiguration,
  asked: readonly DescribedFunction[],
  given: readonly ChosenEvent[] | null,
): Promise<{ readonly fn: DescribedFunction; readonly event: ChosenEvent | null }[]> {
  if (given !== null) {
    const reached = asked.flatMap((fn) => {
      const event = reaching(fn, given);
      return event === null ? [] : [{ fn, event }];
    });
    if (reached.length > 0) return reached;
    const names = given.map(({ name }) => `"${printable(name)}"`).join(", ");
    throw cannot(`${printable(options.event!)}: no function here is started by ${names}.`);
  }
  const address = options["from-store"];
  const stored = address === undefined ? null : await eventsOfStore(io, address, asked);
  return asked.map((fn) => {
    const written = functions[fn.config.id]?.event;
    const configured: ChosenEvent | null =
      written === undefined ? null : { ...written, from: "from idem.verify", isReal: false };
    const found = stored?.get(fn.fn) ?? configured ?? eventOfSchema(fn, flags.has("generate"));
    return { fn, event: found ?? null };
  });
}
