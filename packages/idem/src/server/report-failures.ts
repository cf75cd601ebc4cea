// One line for each run that fails, so that whoever watches the server sees it happen. A storm of them is counted instead.
import type { Logger } from "../execute/function-code.ts";
import { readError } from "../model/user-errors.ts";
import type { Platform } from "../platform/platform.ts";
import type { StoreReads } from "../store/reads.ts";

// More lines than a person reads in a second hide what the others say.
const linesPerSecond = 20;

export function failureReporter(
  reads: Pick<StoreReads, "run">,
  logger: Logger,
  platform: Pick<Platform, "timer">,
): (env: string, runId: string, result: string) => void {
  let lines = 0;
  let untold = 0;
  const nextSecond = () => {
    if (untold > 0) logger.warn(`${untold} more runs failed`);
    lines = 0;
    untold = 0;
  };
  return (env, runId, result) => {
    if (lines === linesPerSecond) {
      untold++;
      return;
    }
    if (lines++ === 0) platform.timer(1_000, nextSecond, { background: true });
    const { name, message } = readError(result);
    const where = env === "default" ? "" : ` in ${env}`;
    reads
      .run(env, runId)
      .then((run) =>
        logger.warn(`Run ${runId} of ${run?.fn ?? "a function"}${where} failed: ${name}: ${firstLine(message)}`),
      )
      // The store is closing or ill; whoever runs it hears of that elsewhere.
      .catch(() => {});
  };
}

const messageCharsMax = 300;
const firstLine = (message: string): string => message.split("\n", 1)[0]!.slice(0, messageCharsMax);
