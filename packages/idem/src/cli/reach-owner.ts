// Writing commands. One process owns a file, so they ask it through its local socket; when no owner lives they take the
// file themselves, write, and let go. A server's store has no owner: there they write beside the nodes, as one more session. Functions
// are never executed here, nor registered: what becomes due waits for a process that has them.
import { IdemError } from "../model/errors.ts";
import { cliName } from "../platform/node-platform.ts";
import { Idem } from "../sdk/client.ts";
import { loadDriver } from "../sdk/open-store.ts";
import { type Ask, openDesk } from "../sdk/owner-desk.ts";
import { sealingOf, sealStore } from "../sdk/sealed-store.ts";
import { openInlineStore } from "../store/sqlite/inline-store.ts";
import { loadMigrations } from "../store/sqlite/migrations.ts";
import type { Store } from "../store/store.ts";
import { unusable } from "./exit.ts";
import { checkStoreFile } from "./find-store.ts";
import { greetOwner, silentFor, wakeSilent, whySilent } from "./greet-owner.ts";
import { appMeant, commandName, type ReadAddress, silent } from "./open-reading.ts";
import type { Io } from "./terminal.ts";

// A process that starts owns the file a moment before it can be reached.
const triesMax = 10;
const pauseMs = 100;

export async function writeStore<T>(
  io: Io,
  options: { readonly address: ReadAddress; readonly app: string | undefined; readonly env: string },
  body: (ask: Ask) => Promise<T>,
): Promise<T> {
  const { address, app, env } = options;
  if (address.kind === "elsewhere") {
    const [{ lineTo }, { actAtServer }] = await Promise.all([import("./server-line.ts"), import("./reach-server.ts")]);
    return actAtServer(io, lineTo(io, address, env), { env, app }, body);
  }
  if (address.kind === "file") return reachOwner(io, { path: address.path, app, env }, body);
  const { openPostgresStore } = await import("../store/postgres/postgres-store.ts");
  const owner = commandName();
  const pg = await loadDriver(address.url);
  const sealing = sealingOf(io.platform, true, io.env);
  const opened = await openPostgresStore({ url: address.url, pg, platform: io.platform, owner, mode: "attach" });
  const store = sealStore(opened, sealing);
  try {
    return await body(deskOver(io, store, owner, app));
  } finally {
    await store.close();
  }
}

/** Sits down where nobody else does. */
function deskOver(io: Io, store: Store, owner: string, app: string | undefined): Ask {
  const { platform } = io;
  return async (command, env, request) => {
    const meant = appMeant((await store.reads.functions(env)).functions, app);
    const clientIn = (each: string) => new Idem({ id: meant ?? "idem", env: each, store, platform, logger: silent });
    return openDesk({ store, owner, actor: cliName(), clientIn })(command, env, request);
  };
}

async function reachOwner<T>(
  io: Io,
  options: { readonly path: string; readonly app: string | undefined; readonly env: string },
  body: (ask: Ask) => Promise<T>,
): Promise<T> {
  const { path, env } = options;
  const { platform } = io;
  checkStoreFile(path);
  for (let tries = 1; ; tries++) {
    const owner = await greetOwner(io, path, env);
    if (owner.kind === "reached") {
      try {
        return await body(owner.ask);
      } finally {
        owner.close();
      }
    }
    const taken = takeFile(io, options);
    if (taken.kind === "taken") {
      try {
        return await body(taken.ask);
      } finally {
        await taken.close();
      }
    }
    if (owner.kind === "silent") {
      throw unusable(
        `${taken.error.message} It does not answer ${silentFor}, and only it may write to the file: nothing was done. ${whySilent} ${wakeSilent}.`,
        taken.error,
      );
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

function takeFile(io: Io, { path, app }: { readonly path: string; readonly app: string | undefined }): Taken {
  const owner = commandName();
  try {
    const sealing = sealingOf(io.platform, false, io.env);
    const store = sealStore(
      openInlineStore({ path, migrations: loadMigrations(), clock: io.platform, owner }),
      sealing,
    );
    return { kind: "taken", ask: deskOver(io, store, owner, app), close: () => store.close() };
  } catch (error) {
    if (error instanceof IdemError && error.code === "STORE_OWNED") return { kind: "owned", error };
    throw error;
  }
}
