// The fate of open runs under new code, for a person: of each function what goes on, what does not and why, and what its changes mean for what waits.
import { relative } from "node:path";
import type { Change } from "../verify/deploy/changes.ts";
import type { CheckedFunction, DeployFinding, DeployReport, RunCounts } from "../verify/deploy/deploy-report.ts";
import type { Context } from "./command.ts";
import type { Paint } from "./paint.ts";
import { printable } from "./printable.ts";
import { sayBeside } from "./say-beside.ts";
import { duration, when } from "./times.ts";

const signs: Readonly<Record<DeployFinding["kind"], string>> = {
  STUCK: "✗",
  AGAIN: "✗",
  DROPPED: "✗",
  UNPROVEN: "?",
  NOTE: "~",
};

const paintOf = (paint: Paint, kind: DeployFinding["kind"]): ((text: string) => string) =>
  kind === "UNPROVEN" || kind === "NOTE" ? paint.yellow : paint.red;

const counted = (count: number, one: string): string => `${count} ${one}${count === 1 ? "" : "s"}`;

const label = (sign: string, word: string): string => `  ${`${sign} ${word}`.padEnd(12)}`;

export function showDeploy(context: Context, { functions, others, summary }: DeployReport): void {
  const { paint } = context;
  const isShown = ({ runs, changes }: CheckedFunction) => runs.open > 0 || changes.length > 0;
  for (const checked of functions.filter(isShown)) {
    showFunction(context, checked);
    context.say("");
  }
  const quiet = functions.filter((each) => !isShown(each)).length;
  if (quiet > 0)
    context.say(paint.dim(`${counted(quiet, "function")} without open runs, and nothing that waits changed`));
  if (others.open > 0) {
    const whose = others.apps.length === 0 ? "" : ` (${others.apps.map(printable).join(", ")})`;
    context.say(paint.dim(`${counted(others.open, "open run")} of other apps${whose}: not looked at`));
  }
  context.say(`${totals(paint, summary)}    ${paint.dim(`${ofAll(summary)}, ${duration(summary.tookMs)}`)}`);
  if (summary.checked < summary.open) {
    context.remark(
      `${summary.open - summary.checked} open runs were not looked at: of each function and position ${summary.sample} are. --sample says how many.`,
    );
  }
}

function totals(paint: Paint, { goesOn, again, dropped, stuck, unproven, open }: RunCounts): string {
  if (open === 0) return paint.green("no open runs");
  const parts: [number, string, (text: string) => string][] = [
    [stuck, "stuck", paint.red],
    [again, "again", paint.red],
    [dropped, "dropped", paint.red],
    [unproven, "unproven", paint.yellow],
    [goesOn, goesOn === 1 ? "goes on" : "go on", paint.green],
  ];
  return parts.flatMap(([count, word, color]) => (count === 0 ? [] : color(`${count} ${word}`))).join(" · ");
}

const ofAll = ({ checked, open }: RunCounts): string =>
  checked === open ? `${counted(open, "open run")}, all checked` : `${checked} of ${open} open runs checked`;

function showFunction(context: Context, { id, env, runs, findings, changes }: CheckedFunction): void {
  const { paint } = context;
  const where = env === "default" ? "" : ` in ${printable(env)}`;
  context.say(`${paint.bold(printable(id))}${paint.dim(`${where}    ${ofAll(runs)}`)}`);
  for (const finding of findings) showFinding(context, finding);
  for (const change of changes) showChange(context, change);
  if (runs.goesOn > 0) {
    const head = label("✓", "GOES ON");
    sayBeside(context, head, counted(runs.goesOn, "run"), paint.green(head));
  }
}

function showFinding(context: Context, { kind, step, asked, why, key, place, runs, examples }: DeployFinding): void {
  const { paint, io } = context;
  const head = label(signs[kind], kind);
  const named =
    step === null
      ? asked === null
        ? ""
        : `step "${asked}": `
      : `step "${step}"${asked === null ? "" : `, now "${asked}"`}: `;
  const where = place === null ? "" : ` (${relative(io.cwd, place.file)}:${place.line})`;
  const among = `${counted(runs, "run")}: ${examples.join(", ")}${runs > examples.length ? ", …" : ""}`;
  sayBeside(context, head, `${named}${why}${where}`, paintOf(paint, kind)(head));
  const beside = " ".repeat(head.length);
  if (key !== null) sayBeside(context, beside, `under the key ${key.now}, where it had ${key.before}`);
  if (kind === "AGAIN" && asked !== null) {
    sayBeside(context, beside, `{ id: ${JSON.stringify(asked)}, was: ${JSON.stringify(step)} } keeps what is done`);
  }
  sayBeside(context, beside, among, beside, paint.dim);
}

function showChange(context: Context, { what, before, now, becomes, until, isRisk }: Change): void {
  const { paint } = context;
  const head = label(isRisk ? "✗" : "~", "CHANGED");
  sayBeside(context, head, `${what}: ${before} → ${now}`, (isRisk ? paint.red : paint.yellow)(head));
  const ends = until === null ? "" : ` (the last one ${when(until, context.now())})`;
  sayBeside(context, " ".repeat(head.length), `${becomes}${ends}`);
}
