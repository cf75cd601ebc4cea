// idem doctor: is the store sound, does everything open still move, and did anything run twice that should have run once?
import { resolve } from "node:path";
import type { FunctionConfig } from "../../model/function-config.ts";
import { dayMs } from "../../model/window.ts";
import { writePrivate } from "../../platform/private-files.ts";
import { noteAsCsv, noteAsMarkdown } from "../../radar/monday-note.ts";
import { type Command, type Context, countOption, durationOption, type Reading, serverOptions } from "../command.ts";
import { type Examined, examineHealth } from "../examine-health.ts";
import { examineHistory } from "../examine-history.ts";
import { examineSecrets } from "../examine-secrets.ts";
import { examineVerdicts } from "../examine-verdicts.ts";
import { exitCodes, failed } from "../exit.ts";
import { notedFunctions } from "../noted-functions.ts";
import { printable } from "../printable.ts";
import { showProgress } from "../progress.ts";
import type { ServerLine } from "../server-line.ts";
import { iso } from "../times.ts";
import { untilEnded } from "../until-ended.ts";

export const doctor: Command = {
  name: "doctor",
  summary: "check the store, find stuck runs, and find what ran twice with the key that prevents it",
  usage: "[--days <7>] [--near <60s>] [--report <file.md>] [--environment-only]",
  words: { min: 0, max: 0 },
  options: {
    days: { value: "7", help: "how far back to look for duplicates, up to 366" },
    near: { value: "60s", help: "runs of one thing that begin this close together are taken for duplicates" },
    report: {
      value: "file.md",
      help: "write the doubled things with both runs' outputs, as Markdown and as CSV beside it; - with --json: into the document",
    },
    "environment-only": {
      help: "leave out what is about the whole store: its size, its file or server, secrets of others",
    },
    ...serverOptions,
  },
  details: [
    "Exits with 1 when it finds a problem. What it says about keys is judged from field names and values: a suggestion for",
    "somebody who knows the business.",
    "A server elsewhere (--server) examines its store where it is, and tells what it found.",
  ],
  examples: ["idem doctor", "idem doctor --days 30 --report monday.md", "idem doctor --json"],
  async run(context) {
    const days = countOption(context, "days", 7, 366);
    const nearMs = durationOption(context, "near", 60_000);
    const server = await context.server();
    const asked = {
      days,
      nearMs,
      isNoted: context.options.report !== undefined,
      isOfStore: !context.flags.has("environment-only"),
    };
    const { report, ...examined } =
      server === null
        ? await context.read((reading) => examineHere(context, reading, asked))
        : await examineThere(context, server, asked);
    const problems = examined.findings.filter(({ level }) => level === "problem").length;
    const isInside = context.isJson && context.options.report === "-";
    const written = report === null || isInside ? [] : writeReport(context, context.options.report!, report);
    if (context.isJson) {
      const { bytes, facts, findings, ...of } = examined;
      context.json({ ...of, problems, bytes, facts, findings, written, ...(isInside ? { report } : {}) });
    } else {
      show(context, examined, days);
      for (const path of written) context.say(`written: ${path}`);
    }
    return problems === 0 ? exitCodes.ok : exitCodes.failed;
  },
};

interface Asked {
  readonly days: number;
  readonly nearMs: number;
  readonly isNoted: boolean;
  /** Whether the whole store is told of, and not the environment alone. */
  readonly isOfStore: boolean;
}

interface Told extends Examined {
  readonly store: string;
  readonly env: string;
  readonly since: number;
  readonly report: Report | null;
}

interface Report {
  readonly markdown: string;
  readonly csv: string;
}

async function examineHere(
  context: Context,
  reading: Reading,
  { days, nearMs, isNoted, isOfStore }: Asked,
): Promise<Told> {
  const { store, env } = reading;
  const since = context.now() - days * dayMs;
  const progress = showProgress(context.io, "rows looked at");
  let looked = 0;
  const onRow = () => progress.update(++looked, null);
  const health = await examineHealth(context, reading, isOfStore);
  const functions = await configsOf(reading);
  const history = await examineHistory(reading, functions, { since, nearMs, windowMs: dayMs }, onRow);
  progress.end();
  const secrets = await examineSecrets(reading, isOfStore ? null : env);
  const verdicts = await examineVerdicts(reading, functions, context.now());
  const findings = [...health.findings, ...secrets, ...history.findings, ...verdicts];
  let report: Report | null = null;
  if (isNoted) {
    const noted = await notedFunctions(reading, history.doubled);
    const note = { store, env, madeAt: context.now(), since, nearMs, functions: noted };
    report = { markdown: noteAsMarkdown(note), csv: noteAsCsv(note) };
  }
  return { ...health, findings, store, env, since, report };
}

/** As the server's own doctor finds it, beside its store. */
async function examineThere(context: Context, line: ServerLine, { days, nearMs, isNoted }: Asked): Promise<Told> {
  const body = { days, nearMs, report: isNoted };
  const answer = await untilEnded(context, line, "POST /api/doctor", body, "Its store");
  return { report: null, ...(answer.examined as unknown as Omit<Told, "report">) };
}

async function configsOf(reading: Reading): Promise<ReadonlyMap<string, FunctionConfig>> {
  const { functions } = await reading.reads.functions(reading.env);
  return new Map(functions.map(({ fn, config }) => [fn, JSON.parse(config) as FunctionConfig]));
}

function writeReport({ io }: Context, report: string, texts: Report): string[] {
  const markdown = resolve(io.cwd, report);
  const csv = `${markdown.replace(/\.(md|markdown)$/i, "")}.csv`;
  try {
    writePrivate(markdown, texts.markdown);
    writePrivate(csv, texts.csv);
  } catch (error) {
    throw failed(`The report cannot be written: ${(error as Error).message}.`);
  }
  return [markdown, csv];
}

function show(context: Context, { store, env, facts, bytes, findings }: Omit<Told, "report">, days: number): void {
  const { paint } = context;
  context.say(
    `${paint.bold(printable(store))}${bytes === null ? "" : `, ${bytes} bytes`}, environment "${printable(env)}"`,
  );
  const width = Math.max(...Object.keys(facts).map((name) => name.length));
  for (const [name, value] of Object.entries(facts)) context.say(`  ${name.padEnd(width)}  ${printable(value)}`);
  for (const level of ["problem", "note"] as const) {
    for (const finding of findings.filter((each) => each.level === level)) {
      const mark = level === "problem" ? paint.red("problem") : paint.yellow("note");
      context.say("");
      context.say(`${mark}  ${paint.bold(printable(finding.title))}`);
      for (const detail of finding.details) context.say(`  ${printable(detail)}`);
      if (finding.next !== null) context.say(`  ${paint.green("→")} ${printable(finding.next)}`);
    }
  }
  const problems = findings.filter(({ level }) => level === "problem").length;
  context.say("");
  context.say(
    problems === 0
      ? paint.green(`No problems found in the last ${days} days (since ${iso(context.now() - days * dayMs)}).`)
      : paint.red(`${problems} ${problems === 1 ? "problem" : "problems"} found.`),
  );
}
