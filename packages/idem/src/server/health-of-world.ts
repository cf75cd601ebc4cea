// Whether the store of a server takes operations; one look for all who ask.
import { StoreHealth } from "../engine/store-health.ts";
import { defaultEnv } from "./admit-caller.ts";
import type { World } from "./world.ts";

const healths = new WeakMap<World, StoreHealth>();

export function healthOf(world: World): StoreHealth {
  let health = healths.get(world);
  if (health === undefined) {
    health = new StoreHealth(world.platform, defaultEnv, async () => (await world.engine(defaultEnv)).store);
    healths.set(world, health);
  }
  return health;
}
