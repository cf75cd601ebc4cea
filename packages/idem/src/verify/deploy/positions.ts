// Which open runs are looked at: of each function and position up to so many, spread over all there are. A position is what a run did last and what it does
// now; runs at one position have the same code ahead of them, and nearly always the same behind.
import type { RunSummary, StoreReads } from "../../store/reads.ts";
import { Chance } from "../worker/chance.ts";

export interface Listed {
  open: number;
  readonly startedAt: (number | null)[];
  readonly positions: Map<string, Position>;
}

interface Position {
  count: number;
  readonly chosen: string[];
}

const pageSize = 1_000;

/** Names that carry data ("item-17", an id) are one name here. */
export const shapeOf = (name: string): string =>
  name.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|[0-9A-HJKMNP-TV-Z]{26}|\d+/gi, "#");

/** Every open run of the functions that are wanted, by function. */
export async function listOpenRuns(options: {
  readonly reads: Pick<StoreReads, "runPage" | "lastOutcomes">;
  readonly env: string;
  readonly isWanted: (fn: string) => boolean;
  readonly sample: number;
  readonly onListed: (count: number) => void;
}): Promise<ReadonlyMap<string, Listed>> {
  const { reads, env, isWanted, sample, onListed } = options;
  const listed = new Map<string, Listed>();
  // The same store, the same choice.
  const chance = new Chance(1);
  let count = 0;
  for (let before: string | null = null; ; ) {
    const page: Awaited<ReturnType<typeof reads.runPage>> = await reads.runPage(env, {
      isOpen: true,
      limit: pageSize,
      examinedMax: Number.MAX_SAFE_INTEGER,
      ...(before === null ? {} : { before }),
    });
    const rows = page.rows.filter(({ fn }) => isWanted(fn));
    const last = new Map(
      (
        await reads.lastOutcomes(
          env,
          rows.map(({ id }) => id),
        )
      ).map(({ runId, step }) => [runId, step]),
    );
    for (const run of rows) take(listed, run, last.get(run.id) ?? "", sample, chance);
    count += rows.length;
    onListed(count);
    before = page.next;
    if (before === null) return listed;
  }
}

function take(
  listed: Map<string, Listed>,
  { id, fn, state, startedAt }: RunSummary,
  last: string,
  sample: number,
  chance: Chance,
): void {
  const of = listed.get(fn) ?? { open: 0, startedAt: [], positions: new Map<string, Position>() };
  listed.set(fn, of);
  of.open++;
  of.startedAt.push(startedAt);
  const name = `${state} ${shapeOf(last)}`;
  const position = of.positions.get(name) ?? { count: 0, chosen: [] };
  of.positions.set(name, position);
  const place = position.count++ < sample ? position.chosen.length : Math.floor(chance.fraction() * position.count);
  if (place < sample) position.chosen[place] = id;
}
