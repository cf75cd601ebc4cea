// An environment that came into being through another node is opened here too: its runs and schedules are everybody's.
import { isStoreOutage } from "../model/errors.ts";
import type { Store } from "../store/store.ts";
import type { World } from "./world.ts";

const lookMs = 5_000;

/** The answer ends it. */
export function followEnvironments(
  world: Pick<World, "engine" | "engines" | "logger" | "platform" | "health">,
  { shared, reads }: Pick<Store, "shared" | "reads">,
): () => void {
  if (shared === null) return () => {};
  const { platform, logger, health } = world;
  /** Complaints made: the same again is not news. */
  const said = new Set<string>();
  const open = (env: string) => {
    if (world.engines.has(env)) return;
    world.engine(env).catch((error: Error) => {
      if (isStoreOutage(error)) return health.report(`opening environment "${env}"`, error);
      if (!said.has(error.message)) logger.error(`idem: environment "${env}" cannot be opened here: ${error.message}`);
      said.add(error.message);
    });
  };
  let isOver = false;
  const look = async () => {
    try {
      for (const env of await reads.environments()) open(env);
    } catch (error) {
      if (!isOver) health.report("looking for environments", error);
    }
    if (!isOver) timer = arm();
  };
  const arm = () => platform.timer(lookMs, () => void look(), { background: true });
  let timer = arm();
  const unsubscribe = shared.subscribe(({ env }) => open(env));
  return () => {
    isOver = true;
    timer.cancel();
    unsubscribe();
  };
}
