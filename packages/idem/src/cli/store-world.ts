// A store in a file of its own, filled by a client whose time the test moves; and a terminal that looks at it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { ManualPlatform } from "../platform/manual-platform.ts";
import { Idem } from "../sdk/client.ts";
import { openInlineStore } from "../store/sqlite/inline-store.ts";
import { loadMigrations } from "../store/sqlite/migrations.ts";
import { fakeTerminal } from "./fake-terminal.ts";
import { silent } from "./open-reading.ts";

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "idem-cli-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function storeWorld(options: { readonly columns?: number; readonly input?: string } = {}) {
  const folder = temporaryFolder();
  const path = join(folder, "shop.db");
  const platform = new ManualPlatform();
  // No power is lost here: what a sync would make durable is read back by this very process.
  const synchronous = "NORMAL";
  const store = openInlineStore({
    path,
    migrations: loadMigrations(),
    clock: platform,
    owner: "the test",
    synchronous,
  });
  const idem = new Idem({ id: "shop", store, platform, logger: silent });
  const terminal = fakeTerminal({ cwd: folder, platform, env: { IDEM_STORE: `sqlite:${path}` }, ...options });
  return {
    folder,
    path,
    platform,
    store,
    idem,
    terminal,
    advance: (ms: number) => platform.advance(ms, () => idem.idle()),
    /** Lets go of the file, as a process does that ends. */
    stop: () => idem.stop(),
  };
}
