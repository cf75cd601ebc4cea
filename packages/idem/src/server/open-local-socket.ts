// The server's local socket for the command line of this machine: `idem send`, `rerun`, `cancel` and the like work beside it,
// on its own engines, so that what they ask for happens at once.

import { doPart } from "../engine/bulk/bulk-part.ts";
import { lasting, parseDuration } from "../model/duration.ts";
import { defaultWindowMs } from "../model/function-config.ts";
import { cliName, processName } from "../platform/node-platform.ts";
import { effectsApi } from "../sdk/effects-api.ts";
import { nameIn } from "../sdk/find-subject.ts";
import { functionsApi, resumeOnePart } from "../sdk/functions-api.ts";
import { inside } from "../sdk/inside.ts";
import { type DeskClient, openDesk } from "../sdk/owner-desk.ts";
import { type OwnerSocket, openOwnerSocket } from "../sdk/owner-socket.ts";
import { eventsApi, runsApi } from "../sdk/reads-api.ts";
import { sendResultOf } from "../sdk/send-result.ts";
import type { Store } from "../store/store.ts";
import type { World } from "./world.ts";

export async function openLocalSocket(world: World, file: string, store: Store): Promise<OwnerSocket | null> {
  const { platform, logger } = world;
  if (platform.local === undefined) return null;
  const clientIn = (env: string): DeskClient => {
    const engineOf = () => world.engine(env);
    return {
      send: async (event, { window }) => {
        const engine = await engineOf();
        const windowMs = window === undefined ? defaultWindowMs : lasting(parseDuration(window, "window"), "window");
        return sendResultOf(await engine.accept([event], windowMs, []), nameIn(engine));
      },
      runs: runsApi(engineOf),
      events: eventsApi(engineOf),
      functions: functionsApi(engineOf),
      effects: effectsApi(engineOf),
      [inside]: {
        resumePart: async (id, options) => resumeOnePart(await engineOf(), id, options),
        bulkPart: async (...part) => doPart(await engineOf(), ...part),
      },
    };
  };
  try {
    return await openOwnerSocket(
      platform.local,
      file,
      openDesk({ store, owner: processName(), actor: cliName(), clientIn }),
      platform,
    );
  } catch (error) {
    // Runs do not depend on it; commands that write will say that this process cannot be reached.
    logger.warn(`The local socket of ${file} did not open: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  }
}
