// The code of the README and of docs/errors.md is this folder's code, compiled and run.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { stripe } from "./stripe.ts";

const here = fileURLToPath(new URL(".", import.meta.url));

function blocksOf(document: string): string[] {
  const text = readFileSync(join(here, "..", "..", document), "utf8");
  return [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code!.trim());
}

function regionOf(file: string): string {
  const [, code] = readFileSync(join(here, `${file}.ts`), "utf8").match(/\/\/ #region .*\n([\s\S]*?)\/\/ #endregion/)!;
  return code!.replace(/\/\/ #pause\n[\s\S]*?\/\/ #resume\n/, "").trim();
}

let folder: string;
const before = process.env.IDEM_STORE;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "idem-readme-"));
  process.env.IDEM_STORE = `sqlite:${join(folder, "shop.db")}`;
});
afterAll(() => {
  if (before === undefined) delete process.env.IDEM_STORE;
  else process.env.IDEM_STORE = before;
  rmSync(folder, { recursive: true, force: true });
});

test("every code block of the README and of docs/errors.md is one of this folder's files, to the letter", () => {
  expect(blocksOf("README.md")).toEqual(["intro", "toolkit", "typed-events", "delivered-twice"].map(regionOf));
  expect(blocksOf("docs/errors.md")).toEqual(["errors"].map(regionOf));
});

test("the code of docs/logs.md is this folder's, and a failed run reaches who listens", async () => {
  const text = readFileSync(join(here, "logs.ts"), "utf8");
  const regions = [...text.matchAll(/\/\/ #region .*\n([\s\S]*?)\/\/ #endregion/g)].map(([, code]) => code!.trim());
  expect(blocksOf("docs/logs.md")).toEqual(regions);
  const { idem, pages, stop } = await import("./logs.ts");
  idem.createFunction({ id: "pay", retries: 0 }, { event: "go" }, () => missing());
  await idem.start();
  const lines: string[] = [];
  const error = vi.spyOn(console, "error").mockImplementation((line) => void lines.push(line));
  const { decisions } = await idem.send({ name: "go", data: {} });
  await idem.runs.wait(decisions[0]!.runId!, { timeout: "30s" });
  error.mockRestore();
  expect(pages).toEqual([expect.stringMatching(/^pay failed in run \w+: .*missing/)]);
  expect(lines).toEqual([
    expect.stringMatching(/^idem: run \w+ of "pay" failed: TypeError: .*\n +at .*readme\.test\.ts/),
  ]);
  stop();
  await idem.stop();
});

function missing(): unknown {
  return (undefined as any).missing();
}

test("an error says what to do next", async () => {
  const { advice, idem } = await import("./errors.ts");
  expect(advice).toContain("send it again");
  await idem.stop();
});

test("the first twenty lines do what they say: one draft, and the second delivery is answered with the first run", async () => {
  const { idem, first, again } = await import("./intro.ts");
  expect(first.decisions[0]).toMatchObject({ kind: "started", function: "draft-invoice", key: "7" });
  const { runId } = first.decisions[0]!;
  expect(again.decisions[0]).toMatchObject({ kind: "duplicate-key", runId, reason: `key 7 is taken by run ${runId}` });
  await idem.idle();
  expect(stripe.invoices.count()).toBe(1);
  expect((await idem.runs.get(runId!))!.state).toBe("waiting");
  await idem.stop();
});

test("behind an Idempotency-Key a double click is answered twice and invoiced once", async () => {
  const { server, idem } = await import("./toolkit.ts");
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const before = stripe.invoices.count();
  const click = async (customer: string) => {
    const headers = { "content-type": "application/json", "x-account": "a-1", "idempotency-key": "click-1" };
    const body = JSON.stringify({ customer });
    const answer = await fetch(`http://127.0.0.1:${port}/invoices`, { method: "POST", headers, body });
    return { status: answer.status, text: await answer.text(), replayed: answer.headers.get("idempotent-replayed") };
  };
  const first = await click("cus_1");
  expect(await click("cus_1")).toEqual({ ...first, replayed: "true" });
  expect(first).toMatchObject({ status: 201, replayed: null });
  expect((await click("cus_2")).status).toBe(422);
  expect(stripe.invoices.count()).toBe(before + 1);
  server.close();
  server.closeAllConnections();
  await idem.stop();
});

test("an event that does not fit its schema is refused with its path", async () => {
  const { idem, refused } = await import("./typed-events.ts");
  await expect(refused).rejects.toMatchObject({ code: "EVENT_SCHEMA", facts: { path: "data.total" } });
  await idem.stop();
});

test("a double delivery starts one run and says so; after the window the key starts again", async () => {
  const { cart, idem, started, suppressed } = await import("./delivered-twice.ts");
  expect(started).toHaveLength(1);
  expect(suppressed).toMatchObject([{ kind: "duplicate-key", runId: started[0] }]);
  expect((await idem.send(cart)).decisions[0]!.kind).toBe("started");
  await idem.stop();
});
