// A follower of a run by server-sent events hears how it ended, even if the run's own last words came before they were
// subscribed or never came: the app says them while its answer is already under way.
import { isEnded } from "../../model/run.ts";
import { responseEvent } from "../../protocol/endpoint-output.ts";
import { endpointLimits } from "../endpoints/limits.ts";
import type { World } from "../world.ts";
import type { Subscription } from "./channels.ts";
import type { EventLine } from "./event-line.ts";
import { realtimeLimits } from "./limits.ts";

export async function endWithRun(
  world: World,
  env: string,
  runId: string,
  line: EventLine,
  subscription: Subscription,
  signal: AbortSignal,
): Promise<void> {
  try {
    const engine = await world.engine(env);
    const before = await engine.store.reads.run(env, runId);
    const wasOver = before !== null && isEnded(before.state);
    const end = await engine.ends.wait(runId, { signal, lookAfterMs: endpointLimits.lookAfterMs });
    if (!wasOver) {
      await new Promise<void>((resolve) => {
        world.platform.timer(realtimeLimits.lastWordsMs, resolve, { background: true });
      });
    }
    await subscription.caughtUp();
    line.end(line.saidResponse ? null : Buffer.from(responseEvent(end)));
  } catch (error) {
    // The client left.
    if (signal.aborted) return;
    world.logger.error(`idem: the end of run ${runId} could not be told`, error);
    await line.close("the run's end could not be read");
  }
}
