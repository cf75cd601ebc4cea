// Many rounds: how many there are in each form, run side by side, kept in a file after each so that an interrupted campaign
// goes on where it was.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type RoundOptions, type RoundResult, runRound } from "./round.ts";

export type Shape = Omit<RoundOptions, "seed" | "engine" | "onKill">;

export interface Form {
  readonly name: "full" | "short";
  /** One round each. */
  readonly rounds: readonly Shape[];
}

const sweepAll = { visitsMax: 5, randomKills: 40, meanMs: [200, 1_500], ackedMin: 5_100 } as const;

/**
 * 20 rounds of 13 points × 5 visits and 40 random kills: 2,100 kills over at least 102,000 acknowledged events. In every second round a tool locks
 * the file, too.
 */
export const fullForm: Form = {
  name: "full",
  rounds: Array.from({ length: 20 }, (_, i) => ({ ...sweepAll, lockGapMs: i % 2 === 0 ? null : 1_000 })),
};

/** 60 kills in all, each point once. */
export const shortForm: Form = {
  name: "short",
  rounds: [
    { visitsMax: 1, randomKills: 17, meanMs: [100, 400], ackedMin: 0, lockGapMs: null },
    { visitsMax: 0, randomKills: 30, meanMs: [100, 400], ackedMin: 0, lockGapMs: 1_000 },
  ],
};

export const killCount = ({ visitsMax, randomKills }: Shape, pointCount: number): number =>
  visitsMax * pointCount + randomKills;

export interface CampaignOptions {
  readonly form: Form;
  /** The first round's seed; the others count on. */
  readonly seed: number;
  readonly jobs: number;
  readonly engine: string;
  /** Where results are kept and found again; null keeps none. */
  readonly summary: string | null;
  readonly onKill?: () => void;
  readonly onRound?: (result: RoundResult, isOld: boolean) => void;
}

interface Summary {
  /** Results of other code, another seed or another form are no results of this campaign. */
  readonly of: string;
  readonly rounds: readonly RoundResult[];
}

export async function runCampaign(options: CampaignOptions): Promise<RoundResult[]> {
  const { form, seed, engine, summary } = options;
  const of = `${form.name} from seed ${seed} on engine ${fingerprint(engine)}`;
  const results = summary === null ? [] : readSummary(summary, of);
  for (const result of results) options.onRound?.(result, true);
  const waiting = form.rounds
    .map((shape, i) => ({ ...shape, seed: seed + i }))
    .filter((round) => !results.some((result) => result.seed === round.seed));
  const work = async () => {
    for (let round = waiting.shift(); round !== undefined; round = waiting.shift()) {
      const { onKill } = options;
      const result = await runRound({ ...round, engine, ...(onKill === undefined ? {} : { onKill }) });
      results.push(result);
      if (summary !== null) writeSummary(summary, { of, rounds: results });
      options.onRound?.(result, false);
    }
  };
  await Promise.all(Array.from({ length: options.jobs }, work));
  return results.sort((a, b) => a.seed - b.seed);
}

function readSummary(path: string, of: string): RoundResult[] {
  try {
    const found: Summary = JSON.parse(readFileSync(path, "utf8"));
    return found.of === of ? [...found.rounds] : [];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

function writeSummary(path: string, summary: Summary): void {
  mkdirSync(dirname(path), { recursive: true });
  // Whole or not at all: an interrupted write must not cost the rounds before it.
  writeFileSync(`${path}.new`, `${JSON.stringify(summary, null, 1)}\n`);
  renameSync(`${path}.new`, path);
}

/** Of the code under test. */
export function fingerprint(folder: string): string {
  const hash = createHash("sha256");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => /\.(js|sql)$/.test(path));
  for (const file of files.sort()) hash.update(file).update(readFileSync(join(folder, file)));
  return hash.digest("hex").slice(0, 12);
}
