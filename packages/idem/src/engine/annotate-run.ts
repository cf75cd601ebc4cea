// Metadata of ops about their run. It is kept before the outcomes, so that it is there for everybody who hears of a step; what is
// too much is left out, for no step fails by what is said about it.
import type { Logger } from "../execute/function-code.ts";
import type { MetadataChange } from "../model/metadata.ts";
import type { Store } from "../store/store.ts";

export interface Annotating {
  readonly store: Pick<Store, "annotate">;
  readonly env: string;
  readonly logger: Logger;
}

export async function annotateRun(
  { store, env, logger }: Annotating,
  runId: string,
  changes: readonly MetadataChange[],
): Promise<void> {
  const answer = await store.annotate({ env, runId, changes });
  if (answer.kind === "too-large") {
    logger.warn(`idem: metadata of run ${runId} was left out: ${answer.bytes} bytes are more than ${answer.max}`);
  }
}
