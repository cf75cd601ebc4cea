// One trace across processes of this machine: the sender and the one that goes on with the run export their spans by themselves, to a receiver in a third.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const repository = fileURLToPath(new URL("../../../../", import.meta.url));
const page = readFileSync(join(repository, "docs", "observability.md"), "utf8");

interface Received {
  readonly from: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** The first sends and ends while the run waits; the second wakes it. */
const program = `
  import { trace } from "@opentelemetry/api";
  import { Idem } from "idem";
  const idem = new Idem({ id: "shop", store: "sqlite:shop.db", logger: false, radar: false });
  idem.createFunction({ id: "thank" }, { event: "order/paid" }, async ({ step }) => {
    await step.run("charge", () => 1);
    await step.waitForSignal("shipped", { signal: "shipped-7", timeout: "1d" });
    await step.run("mail", () => trace.getTracer("mail").startActiveSpan("smtp", (span) => span.end()));
  });
  await idem.start();
  if (process.env.ROLE === "sender") {
    await trace.getTracer("web").startActiveSpan("POST /orders", async (span) => {
      await idem.send({ name: "order/paid", data: {} });
      span.end();
    });
    await idem.idle();
    await idem.stop();
  } else {
    await idem.sendSignal({ signal: "shipped-7", data: {} });
    await idem.runs.wait((await idem.runs.list())[0].id);
    await idem.stop();
  }
`;

test("a run that one process began and another went on with is one trace, in what both export", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "idem-traced-"));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  symlinkSync(join(repository, "node_modules"), join(cwd, "node_modules"));
  writeFileSync(join(cwd, "tracing.mjs"), /```ts\n(.*?)```/s.exec(page)![1]!);
  writeFileSync(join(cwd, "app.mjs"), program);
  const receiver = spawn(process.execPath, [fileURLToPath(new URL("./otlp-receiver.suite.mjs", import.meta.url))], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void receiver.kill("SIGKILL"));
  const lines = createInterface({ input: receiver.stdout })[Symbol.asyncIterator]();
  const { port } = JSON.parse((await lines.next()).value as string) as { port: number };
  const play = async (role: string) => {
    const env = {
      PATH: process.env.PATH,
      ROLE: role,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}/${role}`,
    };
    const app = spawn(process.execPath, ["--import", "./tracing.mjs", "app.mjs"], { cwd, env, stdio: "inherit" });
    onTestFinished(() => void app.kill("SIGKILL"));
    expect(await once(app, "exit")).toEqual([0, null]);
  };
  await play("sender");
  await play("worker");
  receiver.kill("SIGTERM");
  const spans: Received[] = [];
  for (let line = await lines.next(); line.done !== true; line = await lines.next()) spans.push(JSON.parse(line.value));
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const told = spans.map((span) => {
    const { from, name, parentSpanId, attributes } = span;
    const parent = parentSpanId === null ? "none" : (byId.get(parentSpanId)?.name ?? "unknown");
    return `${from}: ${name} < ${parent}${name.startsWith("run") ? ` (${attributes["idem.run.outcome"]})` : ""}`;
  });
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  expect(told.sort()).toEqual([
    "sender: POST /orders < none",
    "sender: run thank < send order/paid (waiting)",
    "sender: send order/paid < POST /orders",
    "sender: step charge < run thank",
    "sender: step shipped < run thank",
    "worker: run thank < send order/paid (completed)",
    "worker: smtp < step mail",
    "worker: step mail < run thank",
  ]);
});
