// A program's functions, one after the other: each with its event, what is remembered of it and its share of the time.
import type { Platform } from "../platform/platform.ts";
import type { Looked } from "./baseline.ts";
import type { ChosenEvent } from "./choose-event.ts";
import { findingIds } from "./finding-id.ts";
import { masker, withoutValues } from "./mask-values.ts";
import type { PlayingThreads } from "./playing-threads.ts";
import { type FunctionReport, type LeftOut, summarise, type VerifiedFunction, type VerifyReport } from "./report.ts";
import type { VerifyConfiguration } from "./verify-configuration.ts";
import { type VerifyFunctionOptions, verifyFunction } from "./verify-function.ts";
import { Consent, remember, type VerifyMemory } from "./verify-memory.ts";
import type { DescribedFunction } from "./worker/messages.ts";
import type { DatabaseScript } from "./worker/sql/database-script.ts";
import type { Fixture } from "./worker/world-script.ts";

export interface VerifyProgramOptions {
  readonly threads: Pick<PlayingThreads, "ask">;
  readonly platform: Pick<Platform, "monoMs" | "wallMs">;
  /** Files, as a program would load them; its configuration first. */
  readonly modules: readonly string[];
  /** Every function of the program. */
  readonly functions: readonly DescribedFunction[];
  /** Those to verify, each with the event that starts it; null where there is none, or none is needed. */
  readonly wanted: readonly { readonly fn: DescribedFunction; readonly event: ChosenEvent | null }[];
  readonly configuration: VerifyConfiguration;
  /** As they were prepared. */
  readonly databases: readonly DatabaseScript[];
  readonly memory: VerifyMemory;
  /** Recorded answers of hosts. */
  readonly recordings: readonly Fixture[];
  /** Hosts that are asked once more, and recorded. */
  readonly recordHosts: readonly string[];
  /** For pairs of adversities, of all functions together. */
  readonly budgetMs: number;
  readonly seed: number;
  /** Only these; null for all there are. */
  readonly schedules: readonly string[] | null;
  /** Everything the program has is looked at: what accepts nothing now accepts nothing at all. */
  readonly isWhole: boolean;
  /** The text of one of the program's files, for the edits of a mend. */
  readonly readSource: (file: string) => string | null;
  /** A file as the project calls it. */
  readonly shorten: (file: string) => string;
  /** Functions that are not verified, and why. */
  readonly leftOut: readonly LeftOut[];
  /** The command or call that plays this schedule of the function again. */
  readonly repeatOf: (id: string, schedule: string, seed: number) => string;
  /** For worlds that are not threads. */
  readonly how?: Pick<VerifyFunctionOptions, "isEveryWorldBudgeted" | "mends" | "picks" | "rank">;
  readonly onPlayed?: (id: string, played: number, known: number) => void;
  readonly onVerified?: (id: string) => void;
}

export interface Verified {
  readonly report: VerifyReport;
  readonly looked: Looked;
  /** With what failed now. */
  readonly memory: VerifyMemory;
  /** Answers of hosts recorded now. */
  readonly recorded: readonly Fixture[];
}

export async function verifyProgram(options: VerifyProgramOptions): Promise<Verified> {
  const { platform, wanted, configuration } = options;
  const startedAt = platform.monoMs();
  const consent = new Consent([...options.memory.accepted, ...configuration.accept], platform.wallMs());
  let { memory } = options;
  let budgetMs = options.budgetMs;
  const verified: VerifiedFunction[] = [];
  const recorded: Fixture[] = [];
  for (const [i, { fn, event }] of wanted.entries()) {
    const share = budgetMs / (wanted.length - i);
    const before = platform.monoMs();
    const take = (answers: readonly Fixture[]) => recorded.push(...answers);
    const report = await verifyOne(options, fn, { event, budgetMs: share, consent, take });
    const tookMs = platform.monoMs() - before;
    // The unused part of a share is left to the others.
    budgetMs -= Math.min(share, tookMs);
    memory = remember(memory, report.id, failingOf(report), report.outdated);
    verified.push(shown(options, fn, report, event, tookMs));
    options.onVerified?.(report.id);
  }
  const looked = { verified, isWhole: options.schedules === null, functions: options.functions.map(({ fn }) => fn) };
  const report = summarise(verified, {
    leftOut: options.leftOut,
    tookMs: platform.monoMs() - startedAt,
    problems: consent.problems(options.isWhole),
  });
  return { report, looked, memory, recorded };
}

interface OneToVerify {
  readonly event: ChosenEvent | null;
  readonly budgetMs: number;
  readonly consent: Consent;
  readonly take: (recorded: readonly Fixture[]) => void;
}

async function verifyOne(
  options: VerifyProgramOptions,
  fn: DescribedFunction,
  { event, budgetMs, consent, take }: OneToVerify,
): Promise<FunctionReport> {
  const { threads, platform, modules, functions, configuration, memory, seed, schedules, onPlayed, readSource } =
    options;
  const { recordings, recordHosts: hosts } = options;
  const { id } = fn.config;
  const { twin, entity, waits = {} } = configuration.functions[id] ?? {};
  return verifyFunction({
    ...options.how,
    threads,
    platform,
    modules,
    fn,
    endHandlers: functions.filter(({ handlesEnd }) => handlesEnd).map((each) => each.fn),
    event,
    ...(event?.second === undefined ? {} : { second: event.second }),
    fixtures: [...configuration.fixtures, ...recordings.filter(({ host }) => !hosts.includes(host))],
    waits,
    databases: options.databases,
    ...(hosts.length === 0 ? {} : { record: { hosts, take } }),
    budgetMs,
    seed,
    only: schedules,
    readSource,
    remembered: memory.failing[id] ?? [],
    accepts: (effect) => consent.accepts(id, effect),
    ...(twin === undefined ? {} : { twin }),
    ...(entity === undefined ? {} : { entity }),
    ...(onPlayed === undefined ? {} : { onPlayed: (_, played, known) => onPlayed(id, played, known) }),
  });
}

/** Schedules to play first the next time. A clean run is played anyway. */
const failingOf = ({ findings }: FunctionReport): string[] =>
  findings
    .filter(({ verdict, schedule }) => verdict !== "UNPROVEN" && verdict !== "ACCEPTED" && schedule !== "clean")
    .map(({ schedule }) => schedule);

function shown(
  options: VerifyProgramOptions,
  { fn, env, place }: DescribedFunction,
  report: FunctionReport,
  event: ChosenEvent | null,
  tookMs: number,
): VerifiedFunction {
  const { shorten, readSource } = options;
  const { isReal = false, second } = event ?? {};
  const data = [event?.data ?? {}, second?.data ?? {}];
  const { findings, ...rest } = isReal ? withoutValues(report, data) : report;
  const ids = findingIds(findings, { env, fn, shorten, readSource, hide: masker(data) });
  return {
    ...rest,
    fn,
    place,
    event: event === null ? null : { name: event.name, from: event.from },
    tookMs,
    findings: findings.map((finding, i) => {
      const { schedule, seed } = finding;
      const repeat = options.repeatOf(report.id, schedule, seed);
      return { ...finding, id: ids[i]!, isKnown: false, repeat };
    }),
  };
}
