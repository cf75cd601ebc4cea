// Runs that leave the hot path (they sleep, wait, invoke, stand in line) beside plain ones, on one server, in turn.
import { once } from "node:events";
import { type Spread, spread } from "../peers/summary.ts";
import type { Kind, KindFigures, KindSaid } from "./kinds-node.ts";
import { said, startChild } from "./measured.ts";
import { readServerTime, serverTimeOf } from "./processor.ts";
import type { BenchServer } from "./server.ts";

const kinds: readonly Kind[] = ["plain", "nap", "sleep", "sleep-twice", "wait", "invoke", "limited"];

/** Of all rounds; processor time in microseconds for a run. */
export interface KindCosts {
  readonly kind: Kind;
  readonly perSecond: Spread;
  /** Its runs/s over those of plain runs, within a round. */
  readonly ratio: Spread;
  readonly nodeUs: Spread;
  readonly postgresUs: Spread | null;
  readonly statements: Spread;
  readonly roundTrips: Spread;
}

export async function measureKinds(
  server: BenchServer,
  { rounds, runs }: { readonly rounds: number; readonly runs: number },
): Promise<readonly KindCosts[]> {
  const taken = new Map<Kind, Taken[]>(kinds.map((kind) => [kind, []]));
  for (let round = 1; round <= rounds; round++) {
    for (const kind of kinds) {
      process.stderr.write(`  round ${round}/${rounds}, ${kind.padEnd(12)} `);
      const one = await takeKind(server, kind, `idem_kind_${round}_${kind.replace("-", "_")}`, runs);
      process.stderr.write(`${one.statements.toFixed(1)} statements a run · ${Math.round(one.perSecond)} runs/s\n`);
      taken.get(kind)!.push(one);
    }
  }
  const plain = taken.get("plain")!;
  return kinds.map((kind): KindCosts => {
    const all = taken.get(kind)!;
    const of = (figure: (one: Taken) => number) => spread(all.map(figure));
    return {
      kind,
      perSecond: of(({ perSecond }) => perSecond),
      ratio: spread(all.map(({ perSecond }, round) => perSecond / plain[round]!.perSecond)),
      nodeUs: of(({ nodeUs }) => nodeUs),
      postgresUs: all.some(({ postgresUs }) => postgresUs === null) ? null : of(({ postgresUs }) => postgresUs!),
      statements: of(({ statements }) => statements),
      roundTrips: of(({ roundTrips }) => roundTrips),
    };
  });
}

type Taken = KindFigures & { readonly postgresUs: number | null };

async function takeKind(server: BenchServer, kind: Kind, database: string, runs: number): Promise<Taken> {
  await server.createDatabase(database);
  const child = startChild("postgres/kinds-node.js", [server.urlOf(database), kind, String(runs)]);
  const gone = once(child, "exit");
  const figures = said<KindSaid, "figures">(child, "figures");
  figures.catch(() => {});
  await said<KindSaid, "opens">(child, "opens");
  const before = await readServerTime(server);
  const told = await figures;
  const after = await readServerTime(server);
  await gone;
  const postgresUs = before === null || after === null ? null : serverTimeOf(before, after, runs).all!;
  return { ...told.figures, postgresUs };
}
