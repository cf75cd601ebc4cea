// SQL databases in worlds: rows are the truth, the user's own are only read. PostgreSQL and the other pairs are `npm run proof -- corpus --databases`.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { corpusPairs, corpusProgram, openThreads, verifyProgram } from "./corpus.suite.ts";
import type { Schedule } from "./schedules.ts";
import type { DatabaseScript } from "./worker/sql/database-script.ts";

const threads = openThreads();
const scratch = mkdtempSync(join(tmpdir(), "databases-"));
afterAll(async () => {
  await threads.close();
  rmSync(scratch, { recursive: true });
});

let count = 0;
/** As a program in this folder opens them. */
function databases(image = join(scratch, `shop-${++count}.db`)): DatabaseScript[] {
  return [{ kind: "sqlite", file: resolve("shop.db"), name: "shop.db", image }];
}

const isTelling = ({ id }: Schedule): boolean =>
  /^(die-(after|before)-effect|lost-answer|answer-409|twin|other-id-at-once|rerun$)/.test(id);
const shown = /^sqlite-(blind-insert|increment|read-modify-write)$/;

describe.each(corpusPairs("databases").filter(({ name }) => shown.test(name)))(
  "$name",
  ({ faulty, mended, expected }) => {
    test("rows that are there twice, or another than after one clean run, are found at the statement that wrote them", async () => {
      const { findings } = await verifyProgram(threads, faulty, { picks: isTelling, databases: databases() });
      expect(findings.map(({ verdict, place }) => ({ verdict, line: place?.line }))).toEqual([expected]);
    });

    test("a death before or after any statement and commit of its mended twin leaves what one clean run does", async () => {
      const { verdict, findings, effects } = await verifyProgram(threads, mended, {
        picks: isTelling,
        databases: databases(),
      });
      expect(findings).toEqual([]);
      expect({ verdict, hasEffects: effects > 0 }).toEqual({ verdict: "HELD", hasEffects: true });
    });
  },
);

test("what stands in an outbox is handed on by whichever process is there, also by one that finds it while it starts", async () => {
  const program = corpusProgram("databases/sqlite-outbox/mended.mjs");
  const { verdict, findings } = await verifyProgram(threads, program, {
    only: ["die-after-effect:3", "die-before-effect:3", "die-after-effect:2", "again-at-once"],
    databases: databases(),
  });
  expect({ verdict, findings }).toEqual({ verdict: "HELD", findings: [] });
});

test("a sending that the sent-log leaves to a person is no loss", async () => {
  const program = corpusProgram("databases/sqlite-sent-log/mended.mjs");
  const { verdict, notes } = await verifyProgram(threads, program, {
    only: ["die-after-effect:3"],
    databases: databases(),
  });
  expect(verdict).toBe("HELD");
  expect(notes).toContain("parked for a person, who says what becomes of sms.example/messages");
});

describe("a file of the project's", () => {
  const image = join(scratch, "seeded.db");
  beforeAll(() => {
    const db = new Database(image);
    db.exec("create table invoices (id integer primary key, placement text not null, amount integer not null)");
    db.exec("insert into invoices (placement, amount) values ('1', 5), ('2', 5)");
    db.close();
  });

  test("is never opened: worlds have copies, each as it was at the beginning", async () => {
    const program = corpusProgram("databases/sqlite-blind-insert/faulty.mjs");
    const before = readFileSync(image);
    const { findings } = await verifyProgram(threads, program, {
      only: ["die-after-effect:1", "again-after-end"],
      databases: databases(image),
    });
    expect(findings.map(({ thing, schedule }) => ({ thing, schedule }))).toEqual([
      { thing: "two of shop.db/invoices", schedule: "die-after-effect:1" },
    ]);
    expect(readFileSync(image).equals(before)).toBe(true);
    expect([existsSync("shop.db"), readdirSync(scratch).filter((name) => name.endsWith("-wal"))]).toEqual([false, []]);
  });

  test("that nobody gave to the worlds is UNPROVEN by its name, with the line that mends it", async () => {
    const program = corpusProgram("databases/sqlite-blind-insert/faulty.mjs");
    const { verdict, findings } = await verifyProgram(threads, program, { only: [] });
    expect(verdict).toBe("UNPROVEN");
    expect(findings[0]!.thing).toMatch(/shop\.db; write databases: \[\{ file: "shop\.db" \}\] into idem\.verify\.ts/);
    expect(existsSync("shop.db")).toBe(false);
  });
});
