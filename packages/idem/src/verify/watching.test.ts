// What reaches outside by others' packages: clients, providers' own SDKs, mail. Their programs load hundreds of modules for each process of a world, so
// only the schedules that tell are played here.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
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
    const only = [...telling, "die-after-effect:1", "zombie:1", "twin-after-end"];
    const { findings, effects } = await verifyProgram(threads, mended, { only });
    expect(findings).toEqual([]);
    expect(effects).toBe(1);
  });
});

test("an allow-listed sandbox is asked once, and what it answered is what every world is told", async () => {
  let asked = 0;
  const sandbox = createServer((_request, response) => {
    asked++;
    response.setHeader("content-type", "application/json").end(JSON.stringify({ id: "c3", plan: "gold" }));
  });
  await once(sandbox.listen(0, "127.0.0.1"), "listening");
  const host = `127.0.0.1:${(sandbox.address() as AddressInfo).port}`;
  process.env.CORPUS_CRM = `http://${host}`;
  const own = openThreads();
  const recorded: Fixture[] = [];
  const record = { hosts: [host], take: (answers: readonly Fixture[]) => void recorded.push(...answers) };
  const program = corpusProgram("watching/reads-a-customer.mjs");
  const report = await verifyProgram(own, program, { record, only: ["die-after-effect:1"] });
  delete process.env.CORPUS_CRM;
  await own.close();
  sandbox.close();
  expect(recorded).toEqual([
    { method: "GET", host, path: "/clients/*", status: 200, body: { id: "c3", plan: "gold" } },
  ]);
  expect({ asked, findings: report.findings }).toEqual({ asked: 1, findings: [] });
});

test("a host that nobody allowed is not asked", async () => {
  const record = { hosts: ["sandbox.example"], take: (answers: readonly Fixture[]) => expect(answers).toEqual([]) };
  const program = corpusProgram("watching/reads-a-customer.mjs");
  const { verdict } = await verifyProgram(threads, program, { record, only: [] });
  expect(verdict).toBe("UNPROVEN");
});
