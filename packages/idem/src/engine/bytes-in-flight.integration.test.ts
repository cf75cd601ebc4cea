import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { testIdem } from "../testing/test-idem.ts";
import { BytesInFlight } from "./bytes-in-flight.ts";

test("runs begin up to half of the room, grow up to all of it, and past it the oldest alone goes on", () => {
  let told = 0;
  const bytes = new BytesInFlight(100, () => told++);
  expect([bytes.isFull, bytes.room]).toEqual([false, { bytes: 50, atLeastOne: true }]);
  const [oldest, other] = [bytes.open("f"), bytes.open("f")];
  oldest.set(30, 0);
  expect([bytes.isFull, bytes.room]).toEqual([false, { bytes: 20, atLeastOne: false }]);
  other.set(30, 0);
  expect([bytes.isFull, bytes.room, oldest.mayGrow(), other.mayGrow()]).toEqual([
    true,
    { bytes: 0, atLeastOne: false },
    true,
    true,
  ]);
  oldest.set(300, 0);
  expect([oldest.mayGrow(), other.mayGrow()]).toEqual([true, false]);
  expect(told).toBe(0);
  oldest.close();
  expect([told, bytes.isFull, other.mayGrow()]).toEqual([1, false, true]);
  other.close();
  expect(bytes.room).toEqual({ bytes: 50, atLeastOne: true });
});

test("a step under way counts as the largest its function brought lately, and less again once its values are small", () => {
  const bytes = new BytesInFlight(100, () => {});
  const run = bytes.open("large");
  run.learn(40);
  run.set(0, 2);
  expect(bytes.room).toEqual({ bytes: 0, atLeastOne: false });
  expect([bytes.hasRoomFor("large"), bytes.hasRoomFor("small")]).toEqual([false, false]);
  run.set(0, 1);
  expect([bytes.hasRoomFor("large"), bytes.hasRoomFor("small")]).toEqual([false, true]);
  for (let i = 0; i < 60; i++) run.learn(1);
  run.set(0, 1);
  expect(bytes.hasRoomFor("large")).toBe(true);
});

test("a run that was given up in the middle of a step holds nothing once that step comes to its end", () => {
  const bytes = new BytesInFlight(100, () => {});
  const run = bytes.open("f");
  run.set(30, 1);
  run.close();
  run.set(30, 0);
  expect(bytes.room).toEqual({ bytes: 50, atLeastOne: true });
});

test("runs that together have more than there is room for take turns: each ends, no step is entered twice, the largest runs alone", async () => {
  const { idem, clock } = testIdem<any>({ bytesInFlight: 20_000 });
  const entered: string[] = [];
  const text = "a".repeat(4_000);
  idem.createFunction({ id: "heavy" }, { event: "go" }, async ({ event, step }) => {
    const parts: string[] = [];
    for (let i = 0; i < event.data.steps; i++) {
      parts.push(
        await step.run(`part-${i}`, () => {
          entered.push(`${event.data.name}-${i}`);
          return text;
        }),
      );
    }
    const both = await Promise.all(["x", "y"].map((name) => step.run(name, () => text)));
    return [...parts, ...both].join("").length;
  });
  await idem.start();
  const events = Array.from({ length: 12 }, (_, i) => ({ name: "go", data: { name: i, steps: i === 5 ? 8 : 3 } }));
  const { decisions } = await idem.send(events);
  await clock.advance("1m");
  const outputs = await Promise.all(decisions.map(async ({ runId }) => (await idem.runs.get(runId!))!.state));
  expect(outputs).toEqual(Array(12).fill("completed"));
  expect(entered.length).toBe(new Set(entered).size);
  expect(entered).toHaveLength(11 * 3 + 8);
});

// 64 MiB of values, each once as text and once as what the code was given, in a heap of 64 MiB.
const program = (dist: string) => `
  import { Idem } from ${JSON.stringify(dist)};
  const idem = new Idem({ id: "shop", store: "sqlite:" + process.argv[2], bytesInFlight: 4 * 1024 * 1024 });
  idem.createFunction({ id: "heavy" }, { event: "go" }, async ({ step }) => {
    const parts = [];
    for (let i = 0; i < 8; i++) parts.push(await step.run("part-" + i, () => ({ text: "a".repeat(512 * 1024) })));
    return parts.reduce((sum, { text }) => sum + text.length, 0);
  });
  await idem.start();
  const { decisions } = await idem.send(Array.from({ length: 16 }, () => ({ name: "go" })));
  const ends = await Promise.all(decisions.map(({ runId }) => idem.runs.wait(runId)));
  await idem.stop();
  console.log(JSON.stringify(ends.map(({ output }) => output)));`;

test("a process whose runs have far more in their steps than its heap holds brings them all to their end in one life", async () => {
  const folder = mkdtempSync(join(tmpdir(), "idem-heavy-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const dist = pathToFileURL(fileURLToPath(new URL("../../dist/index.js", import.meta.url))).href;
  writeFileSync(join(folder, "app.mjs"), program(dist));
  const args = ["--max-old-space-size=64", "app.mjs", join(folder, "shop.db")];
  const out = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, { cwd: folder, env: { PATH: process.env.PATH } }, (error, stdout, stderr) =>
      resolve(error === null ? stdout : `${stdout}${stderr}`),
    );
  });
  expect(JSON.parse(out)).toEqual(Array(16).fill(8 * 512 * 1024));
});
