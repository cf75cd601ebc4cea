// Writing commands. One process owns a file, so they ask it through its local socket; when no owner lives they take the
// file themselves, write, and let go. Functions are never executed here: what becomes due waits for a process that has them.
import { IdemError } from "../model/errors.ts";
import { processName } from "../platform/node-platform.ts";
import { Idem } from "../sdk/client.ts";
import { type Ask, openDesk } from "../sdk/owner-desk.ts";
import { callOwner } from "../sdk/owner-door.ts";
import { openInlineStore } from "../store/sqlite/inline-store.ts";
import { loadMigrations } from "../store/sqlite/migrations.ts";
import { unusable } from "./exit.ts";
import { checkStoreFile } from "./find-store.ts";
import type { Io } from "./io.ts";
import { onlyApp, silent } from "./open-reading.ts";

// A process that starts owns the file a moment before it can be reached.
const triesMax = 10;
const pauseMs = 100;
// Longer than any commit takes; an event loop that stands still this long needs a person.
const answerMs = 30_000;

export async function reachOwner<T>(
  io: Io,
  options: { readonly path: string; readonly app: string | undefined },
  body: (ask: Ask) => Promise<T>,
): Promise<T> {
  const { path } = options;
  const { platform } = io;
  checkStoreFile(path);
  for (let tries = 1; ; tries++) {
    const owner = platform.local === undefined ? null : await callOwner(platform.local, path, platform, answerMs);
    if (owner !== null) {
      try {
        return await body(owner.ask);
      } finally {
        owner.close();
      }
    }
    const taken = await takeFile(io, options);
    if (taken.kind === "taken") {
      try {
        return await body(taken.ask);
      } finally {
        await taken.close();
      }
    }
    if (tries === triesMax) {
      throw unusable(
        `${taken.error.message} It cannot be reached through its local socket either: it runs as another user, on another machine, is stopping, or its socket did not open (its log says why).`,
        taken.error,
      );
    }
    await new Promise<void>((resolve) => platform.timer(pauseMs, resolve));
  }
}

type Taken =
  | { readonly kind: "taken"; readonly ask: Ask; close(): Promise<void> }
  | { readonly kind: "owned"; readonly error: IdemError };

async function takeFile(
  io: Io,
  { path, app }: { readonly path: string; readonly app: string | undefined },
): Promise<Taken> {
  const { platform } = io;
  const owner = `a command line, ${processName()}`;
  try {
    const store = openInlineStore({ path, migrations: loadMigrations(), clock: platform, owner });
    const clientIn = (env: string, only: string | null) =>
      new Idem({ id: app ?? only ?? "idem", env, store, platform, logger: silent });
    const desk = async (env: string) => {
      const { functions } = await store.reads.functions(env);
      const only = onlyApp(functions);
      return openDesk({ store, owner, clientIn: (each) => clientIn(each, only) });
    };
    return {
      kind: "taken",
      ask: async (command, env, request) => (await desk(env))(command, env, request),
      close: () => store.close(),
    };
  } catch (error) {
    if (error instanceof IdemError && error.code === "STORE_OWNED") return { kind: "owned", error };
    throw error;
  }
}
