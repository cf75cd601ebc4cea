// Effects that leave through others' packages: clients, providers' own SDKs, mail. Their programs load hundreds of modules for each process of a world, so
// only the schedules that tell are played here.
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { corpusPairs, corpusProgram, openThreads, verifyProgram } from "./corpus.suite.ts";
import type { Fixture } from "./worker/world-script.ts";

const threads = openThreads(60_000);
afterAll(() => threads.close());

const telling = ["again-at-once", "die-before-effect:1", "lost-answer:1", "answer-500:1", "throw-after-effect:1"];

describe.each(corpusPairs("packages"))("$name", ({ faulty, mended, expected }) => {
  test("an effect that a package carries out is seen where the user's code asked for it, and doubled by a death", async () => {
    const { findings } = await verifyProgram(threads, faulty, { only: ["die-after-effect:1"] });
    expect(findings.map(({ verdict, place }) => ({ verdict, line: place?.line }))).toEqual([expected]);
  });

  test("with the key that its package takes it happens once", async () => {
    const played = [...telling, "die-after-effect:1", "zombie:1", "twin-after-end"];
    const { findings, effects } = await verifyProgram(threads, mended, { picks: ({ id }) => played.includes(id) });
    expect(findings).toEqual([]);
    expect(effects).toBe(1);
  });
});

test("a client that a program keeps on the global object is made anew by the process that takes over", async () => {
  const { verdict, findings } = await verifyProgram(threads, corpusProgram("watching/kept-on-global.mjs"), {
    only: ["die-after-effect:1", "again-at-once"],
  });
  expect({ verdict, schedules: findings.map(({ schedule }) => schedule) }).toEqual({
    verdict: "DOUBLED",
    schedules: ["die-after-effect:1"],
  });
});

/** The line below the mark. */
function markedLine(program: string): number {
  return (
    readFileSync(program, "utf8")
      .split("\n")
      .findIndex((line) => line.includes("// ✗ ")) + 2
  );
}

test("a mail that a pooled connection hands over belongs to the step that asked for it, and not to the one before", async () => {
  const program = corpusProgram("watching/pooled-mails.mjs");
  const { findings, effects } = await verifyProgram(threads, program, { only: ["die-after-effect:2"] });
  expect(effects).toBe(2);
  expect(findings.map(({ verdict, place }) => ({ verdict, line: place?.line }))).toEqual([
    { verdict: "DOUBLED", line: markedLine(program) },
  ]);
  const mails = findings[0]!.timeline.map(({ text }) => text).filter((text) => text.includes("mail to"));
  expect(mails).toEqual([
    expect.stringMatching(/^step to-client +mail to \S+ by smtp\.example\.com/),
    expect.stringMatching(/^step to-office +mail to office@example\.com/),
    expect.stringMatching(/^step to-office +mail to office@example\.com/),
  ]);
});

test("what is done in the callback of a mail belongs to the step that sent it", async () => {
  const program = corpusProgram("watching/mail-with-callback.mjs");
  const { findings, effects } = await verifyProgram(threads, program, { only: ["die-after-effect:1", "zombie:2"] });
  expect(effects).toBe(2);
  const found = findings.map(({ verdict, step, place }) => ({ verdict, step, line: place?.line }));
  expect(found).toEqual([{ verdict: "DOUBLED", step: "send-mail", line: markedLine(program) }]);
});

test("a mailer that TypeScript loads with require is seen, at the line that asked", async () => {
  const own = openThreads(60_000, "typescript");
  const program = fileURLToPath(new URL("../../fixtures/verifying/src/mails.ts", import.meta.url));
  const { findings } = await verifyProgram(own, program, { only: ["die-after-effect:1"] });
  await own.close();
  const found = findings.map(({ verdict, place }) => ({ verdict, file: place?.file, line: place?.line }));
  expect(found).toEqual([{ verdict: "DOUBLED", file: program, line: markedLine(program) }]);
});

test("a file that was there before holds what was appended twice, twice", async () => {
  const folder = mkdtempSync(join(tmpdir(), "corpus-"));
  process.env.CORPUS_JOURNAL = join(folder, "journal");
  writeFileSync(process.env.CORPUS_JOURNAL, "before\n");
  const own = openThreads();
  const program = corpusProgram("watching/appends-to-what-is-there.mjs");
  const { findings } = await verifyProgram(own, program, { only: ["die-after-effect:1"] });
  await own.close();
  expect(readFileSync(process.env.CORPUS_JOURNAL, "utf8")).toBe("before\n");
  delete process.env.CORPUS_JOURNAL;
  rmSync(folder, { recursive: true });
  expect(findings.map(({ verdict, place }) => ({ verdict, line: place?.line }))).toEqual([
    { verdict: "DOUBLED", line: markedLine(program) },
  ]);
});

test("a server of the user's listens where nobody comes: no port is taken, and none is found taken", async () => {
  const busy = createServer();
  await once(busy.listen(0), "listening");
  process.env.CORPUS_PORT = String((busy.address() as AddressInfo).port);
  const own = openThreads();
  const program = corpusProgram("watching/listens.mjs");
  const { verdict, findings } = await verifyProgram(own, program, { only: ["die-after-effect:1", "again-at-once"] });
  delete process.env.CORPUS_PORT;
  await own.close();
  busy.close();
  expect(findings).toEqual([]);
  expect(verdict).toBe("HELD");
});

test("what is printed by number is no file, and does not reach the command's own output", async () => {
  const program = corpusProgram("watching/prints-by-number.mjs");
  const file = fileURLToPath(new URL("../../../../verify-corpus/watching/play-alone.mjs", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [file, program]);
  expect(JSON.parse(stdout)).toEqual({ verdict: "HELD", findings: [] });
});

/** Verified with a sandbox that really answers so; `asked` is how often it was. */
async function recordFrom(answer: (response: ServerResponse) => void) {
  let asked = 0;
  const sandbox = createServer((_request, response) => {
    asked++;
    answer(response);
  });
  await once(sandbox.listen(0, "127.0.0.1"), "listening");
  const host = `127.0.0.1:${(sandbox.address() as AddressInfo).port}`;
  process.env.CORPUS_CRM = `http://${host}`;
  const own = openThreads();
  const recorded: Fixture[] = [];
  const record = { hosts: [host], take: (answers: readonly Fixture[]) => void recorded.push(...answers) };
  const program = corpusProgram("watching/reads-a-customer.mjs");
  const { findings } = await verifyProgram(own, program, { record, only: ["die-after-effect:1"] });
  delete process.env.CORPUS_CRM;
  await own.close();
  sandbox.close();
  return { asked, host, recorded, findings };
}

test("an allow-listed sandbox is asked once, and what it answered is what every world is told", async () => {
  const { asked, host, recorded, findings } = await recordFrom((response) =>
    response.setHeader("content-type", "application/json").end(JSON.stringify({ id: "c3", plan: "gold" })),
  );
  expect(recorded).toEqual([
    { method: "GET", host, path: "/clients/*", status: 200, body: { id: "c3", plan: "gold" } },
  ]);
  expect({ asked, findings }).toEqual({ asked: 1, findings: [] });
});

test("a sandbox that cannot be asked, or sends to a host nobody allowed, is named, and nothing of it is kept", async () => {
  const away = await recordFrom((response) => void response.destroy());
  const elsewhere = await recordFrom((response) => response.writeHead(302, { location: "http://127.0.0.1:9/" }).end());
  expect([away.findings[0]?.thing, elsewhere.findings[0]?.thing]).toEqual([
    expect.stringMatching(/^127\.0\.0\.1:\d+ was to be recorded and could not be asked: /),
    expect.stringMatching(/could not be asked: it sends to 127\.0\.0\.1:9, which --record does not name$/),
  ]);
  expect([...away.recorded, ...elsewhere.recorded]).toEqual([]);
});

test("a host that nobody allowed is not asked", async () => {
  const record = { hosts: ["sandbox.example"], take: (answers: readonly Fixture[]) => expect(answers).toEqual([]) };
  const program = corpusProgram("watching/reads-a-customer.mjs");
  const { verdict } = await verifyProgram(threads, program, { record, only: [] });
  expect(verdict).toBe("UNPROVEN");
});
