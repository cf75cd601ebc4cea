// Pausing a function from the command line, and what becomes of its events.
import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { loadMigrations } from "../store/sqlite/migrations.ts";
import { openReadOnlyStore } from "../store/sqlite/read-only-store.ts";
import { storeWorld } from "./store-world.ts";

/** Three paused events and a held one; nobody has the store open. */
async function waiting(options: { columns?: number } = {}) {
  const world = storeWorld(options);
  const { idem } = world;
  const key = { key: "event.data.order", onMissing: "reject" } as const;
  idem.createFunction({ id: "charge", idempotency: key }, { event: "order/paid" }, () => "charged");
  idem.createFunction({ id: "mail" }, { event: "order/paid", if: "event.data.order == 2" }, () => "sent");
  await idem.start();
  const held = (await idem.send({ name: "order/paid", data: {} })).ids[0]!;
  for (const fn of ["charge", "mail"]) await idem.functions.pause(fn);
  const ids: string[] = [];
  for (const order of [1, 2, 3]) {
    ids.push((await idem.send({ name: "order/paid", id: `order-${order}`, data: { order } })).ids[0]!);
  }
  await idem.idle();
  await world.stop();
  return { ...world, ids, held };
}

describe("pause and resume", () => {
  test("a function is paused and resumed, and saying so twice is no mistake", async () => {
    const { terminal, path, platform } = await waiting();
    expect(await terminal.run("resume", "charge", "--reason", "right price")).toBe(0);
    expect(terminal.written.out).toContain("function charge starts runs again");
    expect(terminal.written.err).toContain("3 paused events still wait");
    expect(await terminal.json("resume", "charge")).toEqual({ function: "shop-charge", changed: false, decided: 0 });
    expect(await terminal.json("pause", "charge")).toEqual({
      function: "shop-charge",
      changed: true,
      pausedAt: expect.any(Number),
    });
    expect(await terminal.run("pause", "shop-charge")).toBe(0);
    expect(terminal.written.out).toContain("was paused already");
    const { connection, store } = openReadOnlyStore({ path, migrations: loadMigrations(), clock: platform });
    const audit = connection.all<any>("select action, reason from audit where subject = 'shop-charge' order by id");
    expect(audit.map(({ action, reason }) => [action, reason])).toEqual([
      ["pause-function", ""],
      ["resume-function", "right price"],
      ["pause-function", ""],
    ]);
    await store.close();
  });

  test("with --release what waited is started for a process that has the function, with --drop it is gone", async () => {
    const { terminal } = await waiting();
    expect(await terminal.json("resume", "charge", "--release")).toEqual({
      function: "shop-charge",
      changed: true,
      decided: 3,
    });
    expect((await terminal.json("runs", "--function", "charge")).map(({ key, state }: any) => [key, state])).toEqual([
      ["3", "queued"],
      ["2", "queued"],
      ["1", "queued"],
    ]);
    expect(await terminal.run("resume", "mail", "--drop", "--reason", "too late")).toBe(0);
    expect(terminal.written.out).toContain("function mail starts runs again; 3 events dropped");
    expect(await terminal.json("runs", "--function", "mail")).toEqual([]);
  });

  test("one of --release and --drop, and a function that there is", async () => {
    const { terminal } = await waiting();
    expect(await terminal.run("resume", "charge", "--release", "--drop")).toBe(2);
    for (const command of ["pause", "resume"]) {
      expect(await terminal.run(command, "nobody")).toBe(1);
      expect(terminal.written.err).toContain("FUNCTION_UNKNOWN");
    }
  });

  test("thousands of events are released with a bar that says how far it is", async () => {
    const world = storeWorld();
    const { idem, terminal } = world;
    idem.createFunction({ id: "charge" }, { event: "order/paid" }, () => null);
    await idem.functions.pause("charge");
    await idem.send(Array.from({ length: 2_100 }, () => ({ name: "order/paid" })));
    await world.stop();
    Object.assign(terminal.err, { isTerminal: true, columns: 100 });
    expect(await terminal.run("resume", "charge", "--release")).toBe(0);
    expect(terminal.written.out).toContain("2100 events released");
    expect(terminal.written.err).toContain("% of 2100");
  });
});

describe("release and drop", () => {
  test("one event is released, by its stored id or its sender's, and shows what was decided", async () => {
    const { terminal, ids } = await waiting();
    expect(await terminal.run("release", "order-1", "--function", "charge", "--reason", "looked into it")).toBe(0);
    expect(terminal.written.out).toMatch(new RegExp(`event ${ids[0]}[^]*charge +started `));
    expect(await terminal.json("release", ids[0]!)).toMatchObject({ function: "mail", kind: "filtered" });
    expect(await terminal.run("release", ids[0]!)).toBe(1);
    expect(terminal.written.err).toContain("EVENT_NOT_WAITING");
  });

  test("an event that waits for several functions needs --function", async () => {
    const { terminal, ids } = await waiting();
    expect(await terminal.run("drop", ids[1]!)).toBe(2);
    expect(terminal.written.err).toContain('"charge", "mail"');
    expect(await terminal.json("drop", ids[1]!, "--function", "charge", "--reason", "a test")).toMatchObject({
      kind: "dropped",
      reason: "dropped by hand: a test",
    });
    expect(await terminal.run("drop", "nobody")).toBe(1);
    expect(terminal.written.err).toContain("SUBJECT_UNKNOWN");
  });

  test("a held event starts without its key", async () => {
    const { terminal, held } = await waiting();
    const decision = await terminal.json("release", held, "--function", "charge");
    expect(decision).toMatchObject({ kind: "started", key: null });
    expect(decision.reason).toContain("started without a key");
  });
});

describe("looking at what waits", () => {
  test("functions counts it, events --pending lists it, page by page", async () => {
    const { terminal, ids, held } = await waiting();
    expect(await terminal.json("functions")).toMatchObject([
      { id: "charge", pending: { paused: 3, held: 1, isAll: true } },
      { id: "mail", pending: { paused: 3, held: 0 } },
    ]);
    expect(await terminal.run("functions")).toBe(0);
    expect(terminal.written.out).toMatch(/charge .* 4 +never verified +paused/);
    const listed = async (...args: string[]) =>
      (await terminal.json("events", "--pending", ...args)).map((row: any) => [row.function, row.kind, row.eventId]);
    const every = await listed();
    expect(every).toHaveLength(7);
    expect(every.at(-1)).toEqual(["charge", "held", held]);
    expect(await listed("--function", "mail")).toEqual(ids.toReversed().map((id) => ["mail", "paused", id]));
    // A page does not end between two functions of one event.
    const first = await listed("--limit", "1");
    expect(first.map(([fn, , id]: string[]) => [fn, id]).toSorted()).toEqual([
      ["charge", ids[2]],
      ["mail", ids[2]],
    ]);
    expect(await listed("--before", ids[2]!)).toHaveLength(5);
  });

  test("as a table it says which function waits and why, and fits the terminal", async () => {
    const { terminal, ids } = await waiting({ columns: 110 });
    expect(await terminal.run("events", "--pending", "--limit", "2")).toBe(0);
    const lines = stripVTControlCharacters(terminal.written.out).trimEnd().split("\n");
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(110);
    expect(lines[1]).toMatch(new RegExp(`^${ids[2]} +order/paid .*paused`));
    expect(terminal.written.err).toContain(`More: --before ${ids[2]}`);
    expect(await terminal.run("events", "--pending", "--name", "order/paid")).toBe(2);
    expect(await terminal.run("events", "--function", "charge")).toBe(2);
  });
});

describe("limit", () => {
  test("a limit is raised for a while, shown, and ended; without one there is nothing to raise", async () => {
    const world = storeWorld();
    const { idem, terminal } = world;
    idem.createFunction({ id: "charge", concurrency: 2 }, { event: "order/paid" }, () => "charged");
    idem.createFunction({ id: "mail" }, { event: "order/paid" }, () => "sent");
    await idem.start();
    await world.stop();
    const plain = (text: string) => stripVTControlCharacters(text);
    expect(await terminal.run("limit", "charge")).toBe(0);
    expect(plain(terminal.written.out)).toContain("function charge: 2 at once\n");
    const raise = ["--concurrency", "20", "--for", "1h", "--reason", "month end"];
    expect(await terminal.json("limit", "charge", ...raise)).toMatchObject({
      function: "shop-charge",
      limits: [{ limit: 20, own: 2, until: expect.any(Number) }],
    });
    expect(await terminal.run("limit", "charge")).toBe(0);
    expect(plain(terminal.written.out)).toMatch(/20 at once, instead of 2, until .* \(in /);
    expect(await terminal.json("audit")).toMatchObject([
      { action: "change-limit", subject: "shop-charge", reason: "2 to 20 for 60 min: month end" },
    ]);
    expect(await terminal.json("limit", "charge", "--end")).toMatchObject({ limits: [{ limit: 2, until: null }] });
    expect(await terminal.run("limit", "mail", ...raise)).toBe(2);
    expect(plain(terminal.written.err)).toContain('function "shop-mail" has no limit on how many runs are at work');
    expect(await terminal.run("limit", "charge", "--concurrency", "3")).toBe(2);
    expect(await terminal.run("limit", "charge", "--concurrency", "many", "--for", "1h")).toBe(2);
  });
});
