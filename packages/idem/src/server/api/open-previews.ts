// In a list, a run without output shows the newest value its code made. A run that waits for approval has drafted
// its invoice already, and two drafts under each other are what a person must see.
import { isEnded } from "../../model/run.ts";
import type { RunSummary, StoreReads } from "../../store/reads.ts";

export interface Preview {
  readonly preview: string | null;
  readonly previewStep: string | null;
}

/** One question for a whole page. */
export async function openPreviews(
  reads: StoreReads,
  env: string,
  runs: readonly RunSummary[],
): Promise<(run: RunSummary) => Preview> {
  const open = runs.filter(({ state }) => !isEnded(state)).map(({ id }) => id);
  const made = open.length === 0 ? [] : await reads.lastOutcomes(env, open);
  const byRun = new Map(made.map((each) => [each.runId, each]));
  return ({ id, preview }) => {
    const last = preview === null ? byRun.get(id) : undefined;
    return { preview: last?.preview ?? preview, previewStep: last?.step ?? null };
  };
}
