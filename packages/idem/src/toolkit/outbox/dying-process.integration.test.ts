// With processes that are really killed, from the built package.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ManualPlatform } from "../../platform/manual-platform.ts";
import { eachDatabase, type TestDatabase } from "../sql/databases.suite.ts";
import { createOutbox } from "./create-outbox.ts";

const dist = new URL("../../../dist/", import.meta.url);

const program = (db: TestDatabase, log: string): string => `
  import { appendFileSync } from "node:fs";
  import { pgAdapter, sqliteAdapter } from ${JSON.stringify(new URL("sql.js", dist).href)};
  import { createOutbox } from ${JSON.stringify(new URL("toolkit.js", dist).href)};
  ${
    db.dialect === "postgres"
      ? `import pg from "pg"; const adapter = pgAdapter(new pg.Pool({ connectionString: ${JSON.stringify(db.where)} }));`
      : `import Database from "better-sqlite3"; const adapter = sqliteAdapter(new Database(${JSON.stringify(db.where)}));`
  }
  const dispatching = createOutbox(adapter, { report: () => {} }).dispatch({
    "order/placed": ({ data }) => {
      appendFileSync(${JSON.stringify(log)}, data.name + "\\n");
      if (data.name === "bad") process.kill(process.pid, "SIGKILL");
    },
  });
  await dispatching.idle();
  process.exit(0);
`;

eachDatabase((open) => {
  test("a message that kills its process is begun three times and then dead, and others are handed on", async () => {
    const db = await open();
    const folder = mkdtempSync(join(tmpdir(), "idem-outbox-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const log = join(folder, "log");
    writeFileSync(log, "");
    const outbox: any = createOutbox(db.adapter, { onDead: "block", platform: new ManualPlatform() });
    const send = (name: string, orderKey: string) =>
      db.adapter.transaction((tx) => {
        const event = { name: "order/placed", data: { name } };
        return db.adapter.bodies === "sync"
          ? outbox.sendSync(tx, event, { orderKey })
          : outbox.send(tx, event, { orderKey });
      });
    // Beside the package, so that it finds the drivers.
    const run = () =>
      new Promise<NodeJS.Signals | null>((resolve) => {
        const args = ["--input-type=module", "--eval", program(db, log)];
        const cwd = new URL("../../../", import.meta.url);
        execFile(process.execPath, args, { cwd }, (error) => resolve(error?.signal ?? null));
      });
    await send("bad", "a");
    await send("behind", "a");
    const signals: (string | null)[] = [];
    for (let start = 0; start < 3; start++) {
      signals.push(await run());
      await db.age("idem_outbox", 31_000);
    }
    await send("other", "b");
    signals.push(await run());
    expect(signals).toEqual(["SIGKILL", "SIGKILL", "SIGKILL", null]);
    expect(readFileSync(log, "utf8").trim().split("\n")).toEqual(["bad", "bad", "bad", "other"]);
    expect(await outbox.dead()).toMatchObject([{ reason: "poison", attempts: 3, isBlocking: true }]);
  });
});
