// The duplicate radar of a client in its own process. It looks for the first time a second after the start, and what it takes is a tenth of what a program loads:
// on the machine's own clock it is loaded then, so that no first run waits for it. In a world it is loaded before (`loadRadar`): no real time passes for it there.
import type { DuplicateRadar, WatchOptions } from "./watch-duplicates.ts";

type Loaded = Pick<typeof import("./watch-duplicates.ts"), "watchDuplicates"> &
  Pick<typeof import("./send-to-channel.ts"), "ownChannelAddresses">;

// Long enough for a first run, short enough for an alert within five seconds.
const loadMs = 500;

let loaded: Loaded | null = null;

export async function loadRadar(): Promise<Loaded> {
  if (loaded === null) {
    const [{ watchDuplicates }, { ownChannelAddresses }] = await Promise.all([
      import("./watch-duplicates.ts"),
      import("./send-to-channel.ts"),
    ]);
    loaded = { watchDuplicates, ownChannelAddresses };
  }
  return loaded;
}

export function startRadar(watched: Omit<WatchOptions, "addresses">): DuplicateRadar {
  const begin = ({ watchDuplicates, ownChannelAddresses }: Loaded) =>
    watchDuplicates({ ...watched, addresses: ownChannelAddresses });
  if (loaded !== null) return begin(loaded);
  let isStopped = false;
  let radar: Promise<DuplicateRadar | null> = Promise.resolve(null);
  const loading = watched.platform.timer(
    loadMs,
    () => {
      radar = loadRadar().then(
        (found) => (isStopped ? null : begin(found)),
        // The package was taken away or replaced under the process. Runs do not depend on it.
        (error) => {
          watched.logger.warn(`idem: the duplicate radar does not load: ${(error as Error).message}`);
          return null;
        },
      );
    },
    { background: true },
  );
  return {
    stop: async () => {
      isStopped = true;
      loading.cancel();
      await (await radar)?.stop();
    },
  };
}
