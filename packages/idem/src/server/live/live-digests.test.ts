// Open pages hear of changes, seldom enough for a browser, and nobody pays while nobody listens.
import { expect, onTestFinished, test } from "vitest";
import { ManualPlatform } from "../../platform/manual-platform.ts";
import type { StoreReads } from "../../store/reads.ts";
import { startServer } from "../start-server.ts";
import {
  changedMax,
  heartbeatMs,
  type ListeningActor,
  LiveDigests,
  type LiveLine,
  listenersMax,
  listenersPerPrincipalMax,
  viewerListenersMax,
} from "./live-digests.ts";

const operator: ListeningActor = { name: "password", role: "operator" };

const alert = { kind: "doubled-runs", fn: "f", pairCount: 1 };

function openLive(isShared = false) {
  const platform = new ManualPlatform();
  const asked: string[] = [];
  const alerts: { id: string }[] = [];
  const runs: string[] = [];
  const states = new Map<string, string>();
  const functions = { registration: 1 };
  const reads = {
    openAlertCount: async () => alerts.length,
    alerts: async (_env: string, { limit }: { limit: number }) =>
      [...alerts]
        .reverse()
        .slice(0, limit)
        .map(({ id }) => ({ ...alert, id })),
    groupRuns: async (_env: string, ids: readonly string[]) => {
      asked.push("groupRuns");
      return ids.map((id) => ({ group: `group of ${id}`, run: { id } }));
    },
    runPage: async () => ({
      rows: [...runs].reverse().map((id) => ({ id, state: states.get(id) ?? "running" })),
      next: null,
    }),
  } as unknown as StoreReads;
  const live = new LiveDigests(platform, () => ({
    reads,
    isShared,
    now: () => platform.wallMs(),
    registration: () => functions.registration,
    fullName: (fn) => fn,
  }));
  const settle = async () => {
    for (let i = 0; i < 20; i++) await Promise.resolve();
  };
  return { live, platform, asked, alerts, runs, states, functions, pass: (ms: number) => platform.advance(ms, settle) };
}

class Line implements LiveLine {
  readonly heard: any[] = [];
  readonly pieces: (() => void)[] = [];
  pings = 0;
  closed: string | null = null;
  constructor(private readonly reads = true) {}
  events(bytes: Buffer, sent: () => void): void {
    this.heard.push(JSON.parse(/^event: digest\ndata: (.*)\n\n$/.exec(bytes.toString())![1]!));
    if (this.reads) sent();
    else this.pieces.push(sent);
  }
  ping(): boolean {
    this.pings += 1;
    return this.reads;
  }
  async close(reason: string): Promise<void> {
    this.closed = reason;
  }
}

test("who begins to listen is told how things are, and then at most two digests a second", async () => {
  const { live, pass } = openLive();
  const line = new Line();
  live.listen("default", line, operator);
  await pass(0);
  expect(line.heard).toMatchObject([{ groups: [], isCut: false, alerts: { open: 0, new: [] } }]);
  for (let i = 0; i < 20; i++) {
    live.touched("default", `run ${i % 3}`);
    live.note("default", "started");
    await pass(100);
  }
  expect(line.heard.length).toBeLessThanOrEqual(1 + 4 + 1);
  expect(line.heard.slice(1).reduce((sum, { counts }) => sum + counts.started, 0)).toBeGreaterThanOrEqual(15);
  expect(line.heard[1].groups).toEqual(expect.arrayContaining(["group of run 0"]));
  const before = line.heard.length;
  await pass(5_000);
  expect(line.heard.length).toBeLessThanOrEqual(before + 1);
});

test("more groups than a page can take become counts only", async () => {
  const { live, pass, asked } = openLive();
  const line = new Line();
  live.listen("default", line, operator);
  await pass(0);
  for (let i = 0; i <= changedMax; i++) live.touched("default", `run ${i}`);
  await pass(500);
  expect(line.heard.at(-1)).toMatchObject({ groups: [], isCut: true });
  expect(asked).toEqual([]);
});

test("nothing is noted and nothing asked while nobody listens to the environment", async () => {
  const { live, pass, asked } = openLive();
  live.touched("default", "run");
  const line = new Line();
  const stop = live.listen("default", line, operator);
  live.touched("other", "run");
  await pass(1_000);
  expect(asked).toEqual([]);
  stop();
  expect(live.listenerCount).toBe(0);
  live.touched("default", "run");
  await pass(60_000);
  expect(asked).toEqual([]);
  expect(line.heard).toHaveLength(1);
});

test("an alert is told within a second, whoever raised it", async () => {
  const { live, pass, alerts } = openLive();
  const line = new Line();
  live.listen("default", line, operator);
  await pass(0);
  alerts.push({ id: "A1" });
  await pass(1_500);
  expect(line.heard.at(-1).alerts).toEqual({
    open: 1,
    new: [{ id: "A1", kind: "doubled-runs", function: "f", pairCount: 1 }],
  });
});

test("an app that registers is told within a second, and once", async () => {
  const { live, pass, functions } = openLive();
  const line = new Line();
  live.listen("default", line, operator);
  await pass(0);
  functions.registration = 2;
  await pass(1_500);
  await pass(5_000);
  expect(line.heard.map(({ registration }) => registration)).toEqual([1, 2]);
});

test("runs that another process started are found by looking", async () => {
  const { live, pass, runs } = openLive(true);
  const line = new Line();
  runs.push("01A");
  live.listen("default", line, operator);
  await pass(1_000);
  runs.push("01B");
  await pass(1_500);
  expect(line.heard.at(-1).groups).toEqual(["group of 01B"]);
});

test("a browser that does not read is told no more than once, that it missed something, and is let go", async () => {
  const { live, pass } = openLive();
  const slow = new Line(false);
  live.listen("default", slow, operator);
  await pass(0);
  for (let i = 0; i < 10; i++) {
    live.touched("default", `run ${i}`);
    await pass(500);
  }
  expect(slow.heard).toHaveLength(1);
  slow.pieces.shift()!();
  live.touched("default", "run");
  await pass(500);
  expect(slow.heard.at(-1)).toMatchObject({ isCut: true });
  await pass(heartbeatMs);
  expect(slow.closed).toContain("heartbeat");
  expect(live.listenerCount).toBe(0);
});

const viewer = (n: number): ListeningActor => ({ name: `viewer session ${n}`, role: "viewer" });

test("a caller that opens as many pages as may listen shuts nobody out: its own longest idle page is closed", async () => {
  const { live, pass } = openLive();
  const other = new Line();
  live.listen("default", other, operator);
  const lines = Array.from({ length: listenersMax + 50 }, () => new Line());
  for (const line of lines) live.listen("default", line, viewer(1));
  expect(live.listenerCount).toBe(listenersPerPrincipalMax + 1);
  expect(lines.filter(({ closed }) => closed === null)).toEqual(lines.slice(-listenersPerPrincipalMax));
  await pass(500);
  expect([other.closed, other.heard.length]).toEqual([null, 1]);
});

test("viewers of however many sessions leave places for operators, who are never closed for them", () => {
  const { live } = openLive();
  const viewers = Array.from({ length: 400 }, () => new Line());
  for (const [n, line] of viewers.entries()) live.listen("default", line, viewer(n));
  expect(live.listenerCount).toBe(viewerListenersMax);
  const operators = Array.from({ length: listenersPerPrincipalMax }, () => new Line());
  for (const line of operators) live.listen("default", line, operator);
  for (let n = 0; n < 400; n++) live.listen("default", new Line(), viewer(n));
  expect(operators.filter(({ closed }) => closed !== null)).toEqual([]);
  expect(live.listenerCount).toBe(listenersMax);
  const more = Array.from({ length: 4 }, (_, n) => ({ name: `operator session ${n}`, role: "operator" as const }));
  for (const each of more) for (let n = 0; n < 50; n++) live.listen("default", new Line(), each);
  expect(live.listenerCount).toBe(listenersMax);
  for (const each of more) for (let n = 0; n < 50; n++) live.listen("default", new Line(), each);
  expect(() => live.listen("default", new Line(), viewer(1))).toThrow(/pages of operators listen/);
});

test("of two pages the one that has not read for longer is closed first", async () => {
  const { live, pass } = openLive();
  const [reading, silent] = [new Line(), new Line(false)];
  live.listen("default", reading, viewer(1));
  live.listen("default", silent, viewer(1));
  await pass(1_000);
  for (let n = 2; n <= listenersPerPrincipalMax; n++) live.listen("default", new Line(), viewer(1));
  expect([reading.closed, silent.closed !== null]).toEqual([null, true]);
});

test("a page that follows a server hears of an event that was sent to it", async () => {
  const running = await startServer({ mode: "dev", port: 0, store: "memory:", discovery: false, poll: false });
  onTestFinished(() => running.close({ graceMs: 0 }));
  const stream = await fetch(`${running.origin}/api/live?env=default`);
  onTestFinished(() => stream.body!.cancel().catch(() => {}));
  expect(stream.headers.get("content-type")).toBe("text/event-stream");
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const until = async (part: RegExp) => {
    while (!part.test(text)) text += (await reader.read()).value ?? "";
  };
  await until(/event: digest/);
  const sent = await fetch(`${running.origin}/e/any`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "a/b", data: {} }),
  });
  expect(sent.status).toBe(200);
  await until(/"accepted":1/);
});

test("of what is committed unseen, new runs and runs whose state changed are found by looking", async () => {
  const { live, pass, runs, states } = openLive(true);
  const line = new Line();
  live.listen("default", line, operator);
  runs.push("1", "2");
  await pass(1_500);
  states.set("1", "completed");
  runs.push("3");
  await pass(1_500);
  expect(line.heard.at(-1).groups.toSorted()).toEqual(["group of 1", "group of 3"]);
});
