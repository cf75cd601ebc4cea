// npm run proof -- abuse [--minutes N] [--kind <kind>]
import { parseArgs } from "node:util";
import { traffics } from "./honest.ts";
import { type Complaint, complaintsOf, latenciesOf, megabytes, percentile, sendP99Of, slownessOf } from "./judge.ts";
import { kinds } from "./kinds.ts";
import { kindNames, runSiege, type Siege } from "./run-siege.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    kind: { type: "string", multiple: true, default: [] },
    help: { type: "boolean", default: false },
  },
});

if (values.help) {
  console.log(`npm run proof -- abuse                     every kind of attack in turn and all at once, for 10 minutes, with honest traffic beside them
  --minutes N       how long
  --kind KIND       only this one; may be repeated
kinds: ${kinds.map(({ name, about }) => `\n  ${name.padEnd(20)}${about}`).join("")}`);
  process.exit(0);
}

const minutes = Number(values.minutes);
const unknown = values.kind.filter((kind) => !kindNames.includes(kind));
if (!(minutes > 0) || unknown.length > 0) {
  console.error(
    unknown.length > 0
      ? `--kind: there is no "${unknown[0]}"; there are ${kindNames.join(", ")}`
      : "--minutes must be a number above 0",
  );
  process.exit(2);
}

const chosen = values.kind.length === 0 ? kindNames : values.kind;
const perRound = chosen.length === 1 ? 1 : chosen.length + 1;
const totalMs = minutes * 60_000;
// Four rounds, to tell growth from memory that is filled once; but no attack shorter than a second.
const rounds = Math.max(1, Math.min(4, Math.floor(totalMs / perRound / 1_000)));
const sliceMs = totalMs / rounds / perRound;
const startedAt = Date.now();
console.log(`${chosen.length} kinds, ${rounds} rounds, ${(sliceMs / 1_000).toFixed(1)} s for each`);

const isLive = process.stderr.isTTY;
const siege = await runSiege({
  kinds: chosen,
  sliceMs,
  rounds,
  runsBefore: 1_500,
  eventsBefore: 20_000,
  onProgress: (text) => {
    const minutesGone = ((Date.now() - startedAt) / 60_000).toFixed(1);
    const line = `${minutesGone} of ${minutes} min, ${text}`;
    process.stderr.write(isLive ? `\r\u001b[K${line}` : `${line}\n`);
  },
});
if (isLive) process.stderr.write("\r\u001b[K");
report(siege);

const complaints = [...complaintsOf(siege), ...slownessOf(siege)];
for (const { kind, what } of complaints) console.log(`\n${kind}: ${what}\n  ${repeatOf(kind)}`);
console.log(complaints.length === 0 ? "\nIt held." : `\nIt did not hold: ${complaints.length} complaints.`);
process.exit(complaints.length === 0 ? 0 : 1);

function repeatOf(kind: Complaint["kind"]): string {
  if (kindNames.includes(kind)) return `npm run proof -- abuse --kind ${kind} --minutes 1`;
  const chosenBefore = values.kind.map((each) => ` --kind ${each}`).join("");
  return `npm run proof -- abuse${chosenBefore} --minutes ${minutes}`;
}

function report({ slices, memory, memoryKept }: Siege): void {
  const ms = (value: number) => value.toFixed(0).padStart(7);
  console.log(`\n${"kind".padEnd(22)}honest     p50     p99     max    send refused    loop  answers to attacks`);
  for (const kind of new Set(slices.map((slice) => slice.kind))) {
    const own = slices.filter((slice) => slice.kind === kind);
    const samples = own.flatMap((slice) => slice.samples);
    const sorted = latenciesOf(samples);
    const answers: Record<string, number> = {};
    for (const slice of own) {
      for (const [name, n] of Object.entries(slice.answers)) answers[name] = (answers[name] ?? 0) + n;
    }
    const shown = Object.entries(answers).map(([name, n]) => `${name} × ${n}`);
    const refused = samples.filter((sample) => sample.refused !== null).length;
    const loop = Math.max(...own.map(({ loopMs }) => loopMs));
    console.log(
      `${kind.padEnd(22)}${String(samples.length).padStart(6)} ${ms(percentile(sorted, 0.5))} ${ms(percentile(sorted, 0.99))} ` +
        `${ms(sorted.at(-1) ?? 0)} ${ms(sendP99Of(samples))} ${String(refused).padStart(7)} ${ms(loop)}  ${shown.join(", ")}`,
    );
  }
  console.log(`\n${"honest traffic".padEnd(22)} count     p50     p99     max refused`);
  const samples = slices.flatMap((slice) => slice.samples);
  for (const traffic of [...traffics, "all of it"] as const) {
    const own = samples.filter((sample) => traffic === "all of it" || sample.traffic === traffic);
    const sorted = latenciesOf(own);
    const refused = own.filter((sample) => sample.refused !== null).length;
    console.log(
      `${traffic.padEnd(22)}${String(own.length).padStart(6)} ${ms(percentile(sorted, 0.5))} ${ms(percentile(sorted, 0.99))} ` +
        `${ms(sorted.at(-1) ?? 0)} ${String(refused).padStart(7)}`,
    );
  }
  for (const who of ["server", "app"] as const) {
    const most = Math.max(0, ...memory.map((each) => each[who]));
    const kept = memoryKept.map((each) => megabytes(each[who]));
    console.log(`memory of the ${who}: kept ${kept.join(", ")} after each round, at most ${megabytes(most)}`);
  }
}
