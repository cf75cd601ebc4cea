// What the README and the quick-starts print runs as it is printed; the code of docs/errors.md and docs/logs.md is this folder's.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Idem } from "idem";
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

test("the code of docs/errors.md and docs/failover.md is this folder's, to the letter", () => {
  expect(blocksOf("docs/errors.md")).toEqual(["errors"].map(regionOf));
  expect(blocksOf("docs/failover.md")).toEqual(["failover"].map(regionOf));
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
    expect.stringMatching(/^idem: run \w+ of "pay" failed: TypeError: .*\n +at .*readme\.integration\.test\.ts/),
  ]);
  stop();
  await idem.stop();
});

test("the code of docs/observability.md is this folder's, and what it sets up reaches a collector", async () => {
  expect(blocksOf("docs/observability.md")).toEqual([regionOf("tracing")]);
  const taken: string[] = [];
  const collector = createHttpServer(async (request, response) => {
    let text = "";
    for await (const piece of request) text += piece;
    taken.push(...[...text.matchAll(/"name":"((?:send|run) [^"]+)"/g)].map(([, name]) => name!));
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  collector.listen(0, "127.0.0.1");
  await once(collector, "listening");
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  const { provider } = await import("./tracing.ts");
  delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const idem = new Idem({ id: "traced", store: "memory:", logger: false });
  idem.createFunction({ id: "pay" }, { event: "go" }, () => 1);
  await idem.start();
  const { decisions } = await idem.send({ name: "go", data: {} });
  await idem.runs.wait(decisions[0]!.runId!, { timeout: "30s" });
  await idem.stop();
  await provider.shutdown();
  expect(taken).toEqual(["send go", "run pay"]);
  const { trace } = await import("@opentelemetry/api");
  trace.disable();
  collector.close();
});

function missing(): unknown {
  return (undefined as any).missing();
}

test("an error says what to do next", async () => {
  const { advice, idem } = await import("./errors.ts");
  expect(advice).toContain("send it again");
  await idem.stop();
});

/** Runs the first JavaScript of a page as it is printed, in a folder of its own: what it wrote, line by line. */
function startPrinted(page: string, name: string, env: Record<string, string> = {}): ChildProcess {
  const [, code] = /```js\n([\s\S]*?)```/.exec(readFileSync(join(here, "..", "..", page), "utf8"))!;
  const cwd = join(folder, name);
  mkdirSync(cwd, { recursive: true });
  writeFileSync(join(cwd, "app.mjs"), code!);
  if (!existsSync(join(cwd, "node_modules")))
    symlinkSync(join(here, "..", "..", "node_modules"), join(cwd, "node_modules"));
  const { IDEM_STORE: _, ...others } = process.env;
  return spawn(process.execPath, ["app.mjs"], {
    cwd,
    env: { ...others, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
}

async function linesOf(child: ChildProcess): Promise<string[]> {
  let out = "";
  child.stdout!.on("data", (text) => {
    out += text;
  });
  await once(child, "close");
  return out.trim().split("\n");
}

test.concurrent("the README runs as printed: one draft, the second delivery is answered with the first run, and so is a second start", async () => {
  expect(readFileSync(join(here, "..", "..", "README.md"), "utf8").split(/\s+/).length).toBeLessThanOrEqual(901);
  const said = await linesOf(startPrinted("README.md", "first"));
  const [drafting, started, again, ...end] = said;
  expect([drafting, started]).toEqual(["drafting for Acme", "started"]);
  expect(again).toMatch(/^duplicate-key key 7 is taken by run \w{26}$/);
  expect(end.join(" ")).toBe("{ state: 'completed', output: 'in_1', error: null }");
  expect(await linesOf(startPrinted("README.md", "first"))).toEqual(["duplicate-key", again, ...end]);
});

test.concurrent("the quick-start in one's own process prints what it says it prints", async () => {
  const page = readFileSync(join(here, "..", "..", "docs", "quickstarts", "embedded.md"), "utf8");
  const [, printed] = /```\n(charging[\s\S]*?)```/.exec(page)!;
  expect(await linesOf(startPrinted("docs/quickstarts/embedded.md", "embedded"))).toEqual(printed!.trim().split("\n"));
});

test.concurrent("the quick-start with Express answers a second click with the first answer, and ends when it is told to", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const child = startPrinted("docs/quickstarts/express.md", "express", { PORT: String(port) });
  const said = linesOf(child);
  await once(child.stdout!, "data");
  const click = async (key: string, account?: string) => {
    const headers = {
      "content-type": "application/json",
      "idempotency-key": key,
      ...(account && { "x-account": account }),
    };
    const answer = await fetch(`http://127.0.0.1:${port}/orders`, { method: "POST", headers, body: '{"orderId":1}' });
    return { status: answer.status, text: await answer.text(), replayed: answer.headers.get("idempotent-replayed") };
  };
  const first = await click("click-1", "ann");
  expect([first.status, JSON.parse(first.text).decision]).toEqual([201, "started"]);
  expect(await click("click-1", "ann")).toEqual({ ...first, replayed: "true" });
  expect(JSON.parse((await click("click-2", "ann")).text)).toMatchObject({ decision: "duplicate-key" });
  expect((await click("click-1")).status).toBe(403);
  expect(await (await fetch(`http://127.0.0.1:${port}/idem`)).text()).toContain("idem-base");
  child.kill("SIGTERM");
  expect(await said).toEqual(["listening", "mail: order 1"]);
  expect(child.exitCode).toBe(0);
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
