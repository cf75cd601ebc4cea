// The story as a stranger runs it: a process that ends by itself, says what happened, and leaves nothing behind.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";

// Seconds of processor, which on a busy machine are minutes.
vi.setConfig({ testTimeout: 180_000 });

function tell(environment: Record<string, string> = {}) {
  const tmp = mkdtempSync(join(tmpdir(), "idem-story-test-"));
  const child = spawn(process.execPath, [join(import.meta.dirname, "main.mjs")], {
    env: { ...process.env, TMPDIR: tmp, PACE: "0.1", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
    rmSync(tmp, { recursive: true, force: true });
  });
  return { child, leftOver: () => readdirSync(tmp) };
}

async function read(child: ChildProcess, onOutput: (output: string) => void = () => {}) {
  let output = "";
  let errors = "";
  child.stdout!.on("data", (chunk) => {
    output += chunk;
    onOutput(output);
  });
  child.stderr!.on("data", (chunk) => {
    errors += chunk;
  });
  const code = await new Promise((resolve) => child.once("close", resolve));
  return { code, output, errors };
}

test("the story ends by itself: twice without a key, once with it, once through a killed worker", async () => {
  const { child, leftOver } = tell();
  const { code, output, errors } = await read(child);
  expect({ code, errors }).toEqual({ code: 0, errors: "" });
  expect(output.trimStart()).toMatch(/^Watch it at http:\/\/127\.0\.0\.1:\d+\n/);
  // Before any of it: found by running the function, and the line that mends it.
  expect(output).toMatch(/Prologue.*\n.*\n\n {2}✗ DOUBLED {2}two of api\.stripe\.com\/v1\/invoices/);
  expect(output).toContain(
    '+ draftInvoice(idem, { id: "draft-invoice", idempotency: "event.data.placementId" }, outsideByHttp);',
  );
  expect(output.indexOf("Prologue")).toBeLessThan(output.indexOf("Act 1"));
  expect(output).toContain("Placement 1042 ran twice because nothing marked its two events as the same.");
  expect(output).toContain("73 of 73 clients were invoiced twice");
  expect(output.match(/placement \d+ {2}(INSERTED|UPDATED) +suppressed → run \S+ {2}window ends in 24h/g)).toHaveLength(
    73,
  );
  expect(output).toContain("Placement 1042 ran once because its key was taken: one duplicate was stopped.");
  expect(output).toMatch(/in 24 h +The window of key 1042 ends/);
  expect(output).toContain("73 clients, 73 invoices, 73 duplicates suppressed.");
  expect(output).toMatch(/SIGKILL\. Worker \d+ is gone/);
  expect(output).toMatch(/\d+ are done, [1-4] in flight, \d+ not begun/);
  expect(output).toMatch(/0 of the \d+ recorded steps were entered again/);
  expect(output).toMatch(/create-stripe-draft +Stripe answered with its first draft/);
  expect(output).toContain("Killed half-way, and still 73 clients, 73 invoices.");
  expect(output).toMatch(/1 without a key +146 +146 +146 +73 clients/);
  expect(output).toMatch(/2 with a key +146 +73 +73 +0 clients/);
  expect(output).toMatch(/3 with a key, worker killed +146 +73 +73 +0 clients/);
  expect(output).not.toContain("\u001b");
  expect(leftOver()).toEqual([]);
});

test("the story is told in the dashboard too, whose pages stay up until they are stopped", async () => {
  const { child, leftOver } = tell({ STAY: "1", PACE: "0", PROLOGUE: "0" });
  const seen: Record<string, unknown> = {};
  const get = async (path: string) => {
    const answer = await fetch(path);
    return answer.ok ? ((await answer.json()) as any) : null;
  };
  const look = async (origin: string) => {
    const page = await fetch(origin);
    seen.page = [page.status, new URL(page.url).pathname, (await page.text()).includes('content="/act-3/"')];
    seen.acts = await Promise.all(
      [1, 2, 3].map(async (act) => (await get(`${origin}/act-${act}/api/groups`)) !== null),
    );
    // The radar looks by itself.
    for (let alerts: unknown[] = []; alerts.length === 0; ) {
      const answer = await get(`${origin}/act-1/api/radar/alerts`);
      alerts = answer.alerts ?? answer.items;
    }
    child.kill("SIGINT");
  };
  let looking: Promise<void> | null = null;
  const { code, errors } = await read(child, (soFar) => {
    const address = /The pages stay up at (\S+) until Ctrl-C/.exec(soFar)?.[1];
    if (address !== undefined) looking ??= look(address);
  });
  await looking;
  expect({ code, errors }).toEqual({ code: 0, errors: "" });
  expect(seen).toEqual({ page: [200, "/act-3/", true], acts: [true, true, true] });
  expect(leftOver()).toEqual([]);
});

test("interrupted while its worker runs, the story stops at once and leaves no file and no process behind", async () => {
  const { child, leftOver } = tell({ PACE: "0.2", PROLOGUE: "0" });
  let worker = 0;
  const { code, output } = await read(child, (soFar) => {
    const seen = soFar.match(/steps done, worker (\d+)/);
    if (seen === null || worker !== 0) return;
    worker = Number(seen[1]);
    child.kill("SIGINT");
  });
  expect(code).toBe(130);
  expect(output).toContain("Stopped");
  expect(leftOver()).toEqual([]);
  expect(() => process.kill(worker, 0)).toThrow("ESRCH");
});

test("a wrong setting is refused with a sentence", async () => {
  const { child } = tell({ PACE: "fast" });
  expect(await read(child)).toMatchObject({
    code: 1,
    errors: expect.stringContaining('PACE is a factor from 0 to 10, not "fast"'),
  });
});
