// The course of idem verify: the program is opened, its functions get their events, and what came of their worlds is kept where it was asked for.
import { existsSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { nearestWord } from "../model/nearest-word.ts";
import { shellWord } from "../model/shell-word.ts";
import { withoutPassword } from "../store/postgres/address.ts";
import { against, goneFrom, renewed, writeBaseline } from "../verify/baseline.ts";
import { type ChosenEvent, eventOfSchema, reaching } from "../verify/choose-event.ts";
import type { PlayingThreads } from "../verify/playing-threads.ts";
import { mergeRecordings, readHost, writeRecordings } from "../verify/recordings.ts";
import type { LeftOut, VerifyReport } from "../verify/report.ts";
import { pairSchedules, readSchedule } from "../verify/schedules.ts";
import type { VerifyConfiguration } from "../verify/verify-configuration.ts";
import { type Verified, type VerifyProgramOptions, verifyProgram } from "../verify/verify-program.ts";
import type { DescribedFunction } from "../verify/worker/messages.ts";
import { changedSince } from "./changed-files.ts";
import { ChangedFunctions } from "./changed-functions.ts";
import { type Context, countOption, durationOption } from "./command.ts";
import { cannot, loadProgram, type Program } from "./load-program.ts";
import { printable } from "./printable.ts";
import { showProgress } from "./progress.ts";
import type { VerdictOn } from "./publish-verdicts.ts";
import { asApp, type OpenedApp, openApp, openProcesses, readAppUrl } from "./verify-app.ts";
import type { PrepareDatabases } from "./verify-databases.ts";
import {
  eventsOfStore,
  findConfiguration,
  memoryName,
  pairOfStore,
  projectPath,
  readBaselineOf,
  readEvents,
  readMemoryOf,
  readPair,
  readRecordingsOf,
  readSource,
  recordingsName,
} from "./verify-inputs.ts";

const budgetMs = 10_000;
/** A world of an app takes a second, in place of ten milliseconds. */
const appBudgetMs = 60_000;

/** The app that `-u` names, or the modules. */
async function openProgram(context: Context, threads: PlayingThreads, prepare: PrepareDatabases): Promise<Opened> {
  const { url, start } = context.options;
  const inProcesses = context.flags.has("process");
  if (url === undefined) {
    if (start !== undefined) throw cannot("--start says how an app is started, and -u where it is served: give both.");
    const program = await loadProgram(context, threads, { prepare });
    if (!inProcesses) return { program, threads, close: async () => {} };
    if (context.lists.record !== undefined) throw cannot("--record asks from a thread: leave --process out.");
    return { ...(await openProcesses(context, program)), how: asApp };
  }
  if (inProcesses) throw cannot("--process is for modules; an app (-u) is always verified in processes of its own.");
  if (context.lists.record !== undefined)
    throw cannot("--record is for modules: of an app (-u) nothing leaves this machine.");
  if (context.flags.has("generate"))
    throw cannot("--generate is for modules: an app (-u) does not tell its schemas. Give --event or --from-store.");
  return { ...(await openApp(context, readAppUrl(url), threads, prepare)), how: asApp };
}

interface Judged {
  readonly report: VerifyReport;
  readonly judged: readonly VerdictOn[];
}

type Opened = OpenedApp & Pick<VerifyProgramOptions, "how">;

export async function verifyAll(context: Context, threads: PlayingThreads, prepare: PrepareDatabases): Promise<Judged> {
  // Whatever is wrong with what is given is said before anything is started.
  const inputs = readInputs(context);
  const opened = await openProgram(context, threads, prepare);
  try {
    return await verifyOpened(context, opened, inputs);
  } finally {
    await opened.close();
  }
}

function readInputs(context: Context) {
  const { io, lists, options, flags } = context;
  const ways = ["event", "from-store"].filter((name) => options[name] !== undefined);
  const pair = readPair(options.events);
  if (pair !== null && options["from-store"] === undefined) ways.push("events");
  if (flags.has("generate")) ways.push("generate");
  if (ways.length > 1) throw cannot(`Give one of ${ways.map((name) => `--${name}`).join(" and ")}.`);
  const schedules = lists.schedule ?? (pair === null ? null : pairSchedules);
  const strange = schedules?.find((name) => readSchedule(name) === null);
  if (strange !== undefined) {
    throw cannot(`There is no schedule "${printable(strange)}". docs/verify.md lists them; a finding names its own.`);
  }
  const usualMs = options.url === undefined && !flags.has("process") ? budgetMs : appBudgetMs;
  return {
    pair,
    schedules,
    recordHosts: readHosts(context),
    seed: countOption(context, "seed", 1, 1_000_000),
    budget: options.budget === "0" ? 0 : durationOption(context, "budget", usualMs),
    memory: readMemoryOf(io.cwd),
    recordings: readRecordingsOf(io.cwd),
    given: options.event === undefined ? null : readEvents(io.cwd, options.event),
    known: options.baseline === undefined ? null : readBaselineOf(io.cwd, options.baseline),
  };
}

async function verifyOpened(
  context: Context,
  { program, threads, how }: Opened,
  { pair, schedules, recordHosts, seed, budget, memory, recordings, given, known }: ReturnType<typeof readInputs>,
): Promise<Judged> {
  const { io, lists } = context;
  const asked = askedFunctions(program.functions, lists.function ?? null);
  const { wanted, leftOut } = withoutUnchanged(
    context,
    program,
    await withEvents(context, program.configuration, asked, given, pair),
  );
  let progress: { readonly id: string; readonly shown: ReturnType<typeof showProgress> } | null = null;
  const verified = await verifyProgram({
    ...program,
    threads,
    ...(how === undefined ? {} : { how }),
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
    shorten: (file) => projectPath(io.cwd, file),
    leftOut,
    repeatOf: (id, schedule, of) => `${repeatOf(context, id)} --schedule ${shellWord(schedule)} --seed ${of}`,
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
  const written = keepBaseline(context, verified);
  const baseline = written ?? known;
  const judged = wanted.map(({ fn }, i) => ({ fn, verified: verified.report.functions[i]! }));
  const report = baseline === null ? verified.report : against(verified.report, baseline, verified.looked);
  return { report, judged };
}

type Wanted = readonly { readonly fn: DescribedFunction; readonly event: ChosenEvent | null }[];

/** `--changed`: without the functions of which no file has changed. */
function withoutUnchanged(
  { io, options, remark }: Context,
  { modules }: Program,
  all: Wanted,
): { readonly wanted: Wanted; readonly leftOut: readonly LeftOut[] } {
  if (options.changed === undefined) return { wanted: all, leftOut: [] };
  const changes = changedSince(io.cwd, options.changed);
  if (changes.kind === "untold") {
    remark(`Everything is verified: ${changes.why}.`);
    return { wanted: all, leftOut: [] };
  }
  const inputs = [findConfiguration(io.cwd), join(io.cwd, recordingsName), options.event ?? null];
  const changed = new ChangedFunctions({
    changes,
    modules,
    inputs: inputs.flatMap((file) => (file === null ? [] : resolve(io.cwd, file))).filter((file) => existsSync(file)),
    shorten: (file) => projectPath(io.cwd, file),
  });
  const leftOut: LeftOut[] = [];
  const wanted = all.filter(({ fn }) => {
    const { config, place } = fn;
    const change = changed.of(fn);
    if (change.kind === "unclear") remark(`${printable(config.id)} is verified: ${printable(change.why)}.`);
    if (change.kind !== "same") return true;
    const files = change.files === 1 ? "the one file" : `none of the ${change.files} files`;
    const why = `${files} it is made of has ${change.files === 1 ? "not " : ""}changed since ${changes.since}`;
    leftOut.push({ id: config.id, fn: fn.fn, place, why });
    return false;
  });
  return { wanted, leftOut };
}

/** `--write-baseline`; null where nobody asked for it. */
function keepBaseline({ io, options, remark }: Context, { looked }: Verified): ReturnType<typeof renewed> | null {
  const name = options["write-baseline"];
  if (name === undefined) return null;
  const file = resolve(io.cwd, name);
  const before = existsSync(file) ? readBaselineOf(io.cwd, name) : { findings: [] };
  const baseline = renewed(before, looked, (path) => projectPath(io.cwd, path));
  writeFileSync(file, writeBaseline(baseline));
  const count = baseline.findings.length;
  const gone = goneFrom(before, looked).length;
  const taken =
    gone === 0 ? "" : `, ${gone} that ${gone === 1 ? "is" : "are"} gone ${gone === 1 ? "was" : "were"} taken out`;
  remark(`${printable(name)} has ${count} known ${count === 1 ? "finding" : "findings"} now${taken}: commit it.`);
  return baseline;
}

/** Those of `--record`. */
function readHosts({ lists, options }: Context): string[] {
  const written = lists.record ?? [];
  // Answers about real people are not committed.
  if (written.length > 0 && (options["from-store"] ?? options.events) !== undefined) {
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

/** The words that come to the same function again, without a schedule. */
function repeatOf({ words, options, flags }: Context, id: string): string {
  const address = options["from-store"];
  return [
    "idem verify",
    ...words.map(shellWord),
    ...(options.url === undefined ? [] : [`-u ${shellWord(options.url)}`]),
    ...(options.start === undefined ? [] : [`--start ${shellWord(options.start)}`]),
    `--function ${shellWord(id)}`,
    ...(options.event === undefined ? [] : [`--event ${shellWord(options.event)}`]),
    // An address may hold a password.
    ...(address === undefined
      ? []
      : [address === "" || !address.startsWith("sqlite:") ? "--from-store" : `--from-store ${shellWord(address)}`]),
    ...(options.events === undefined ? [] : [`--events ${shellWord(options.events)}`]),
    ...(options.database === undefined ? [] : [`--database ${shellWord(withoutPassword(options.database))}`]),
    ...(flags.has("remote-database") ? ["--remote-database"] : []),
    ...(flags.has("generate") ? ["--generate"] : []),
    ...(flags.has("process") ? ["--process"] : []),
  ].join(" ");
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
  pair: readonly [string, string] | null,
): Promise<Wanted> {
  if (pair !== null) {
    const both = await pairOfStore(io, options["from-store"] ?? "", asked, pair);
    return asked.flatMap((fn) => {
      const event = both.get(fn.fn);
      return event === undefined ? [] : [{ fn, event }];
    });
  }
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
