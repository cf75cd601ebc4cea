// The databases of the corpus: files that nobody has yet, and scratch databases of a PostgreSQL that is started for them.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

export async function openScratch(given) {
  const scratch = mkdtempSync(join(tmpdir(), `idem-verify-${process.pid}-`));
  let server = null;
  let admin = null;
  let count = 0;
  const made = [];
  const openServer = async () => {
    const { default: pg } = await import("pg");
    // Nothing in it is worth a wait for the disk.
    const settings = { fsync: "off", synchronous_commit: "off" };
    server =
      given === undefined
        ? await (await import("../scripts/local-postgres.mjs")).startLocalPostgres({ settings })
        : { url: given };
    admin = new pg.Client({ connectionString: server.url });
    await admin.connect();
  };
  return {
    /** Fresh ones, as a program that is started in this folder opens them. */
    async next(program, folder = ".") {
      const id = ++count;
      if (program.includes("sqlite"))
        return ["shop.db", "ledger.db"].map((name) => ({
          kind: "sqlite",
          file: resolve(folder, name),
          name,
          image: join(scratch, `${id}-${name}`),
        }));
      if (server === null) await openServer();
      const envs = program.includes("two-databases") ? ["DATABASE_URL", "LEDGER_URL"] : ["DATABASE_URL"];
      const scripts = [];
      for (const env of envs) {
        const template = `idem_verify_${process.pid}_${id}_${scripts.length}`;
        await admin.query(`create database ${template}`);
        made.push(template);
        const name = env === "DATABASE_URL" ? "postgres" : "ledger";
        scripts.push({ kind: "postgres", env, name, server: server.url, template });
      }
      return scripts;
    },
    async close() {
      rmSync(scratch, { recursive: true, force: true });
      if (server === null) return;
      const { rows } = await admin.query("select datname from pg_database");
      for (const { datname } of rows)
        if (made.some((name) => datname.startsWith(name))) await admin.query(`drop database "${datname}" with (force)`);
      await admin.end();
      await server.remove?.();
    },
  };
}
