// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { type RecordedServer, recorded } from "../../../tests/recorded-server.ts";
import {
  findDialog,
  findWords,
  openApp,
  record,
  screen,
  stopClock,
  textAt,
  textsOf,
  waitFor,
} from "../../../tests/test-app.tsx";
import type { Answer } from "../../api/client.ts";

stopClock();

const { ids, story } = record;
/** What stands around a list whose filter was not recorded. */
const prepareOthers = (server: RecordedServer) =>
  server
    .answer("GET /api/totals", (_, answer) => answer ?? recorded("GET /api/totals", "since=7d"))
    .answer("GET /api/radar/alerts", (_, answer) => answer ?? recorded("GET /api/radar/alerts"))
    .answer("GET /api/events", { events: [], next: null, lookedBackTo: null });
type Groups = Answer<"GET /api/groups">;

const loud = ".row.is-loud";
const keysShown = () => textsOf(".groups .row .key .value");
const newest = recorded("GET /api/groups", "group=key&limit=100&order=newest");
/** Those of the newest groups whose label has the text. */
const groupsWith = (text: string): Groups => ({
  ...newest,
  groups: newest.groups.filter(({ label }) => label.includes(text)),
});

test("the headline, the numbers and the pinned keys say the same, and the numbers add up", async () => {
  const { user, address } = await openApp("/runs");
  expect(await textAt(".headline h2")).toBe("4 keys ran more than once in the last 7 days");
  await waitFor(() => expect(textsOf(".summary .figure")).toHaveLength(4));
  const [all, first, suppressed, slipped] = textsOf(".summary .figure").map(Number);
  expect(all).toBe(first! + suppressed! + slipped!);
  expect(slipped).toBe(4);
  await waitFor(() => expect(textsOf(`${loud} .block`)).toEqual(["×2", "×2", "×2"]));
  expect(textsOf(".heading")).toEqual([
    expect.stringContaining("4 keys"),
    expect.stringContaining("5 duplicates suppressed"),
  ]);
  expect(textsOf(`${loud} .ran`)[0]).toMatch(/^ran twice, .+ apart$/);
  await user.click(screen.getByRole("link", { name: "Show all 4" }));
  await waitFor(() => expect(textsOf(`${loud} .block`)).toHaveLength(4));
  expect(address().searchParams.get("show")).toBe("doubled");
  expect(screen.getAllByRole("link", { name: /Suppressed/ })[0]!.getAttribute("href")).toContain("show=suppressed");
});

test("a second run for one placement is on screen as ×2 once the stream says so", async () => {
  const doubled = newest.groups.find(({ id }) => id === ids.group)!;
  const once = { ...doubled, runs: doubled.runs.slice(0, 1), runCount: 1, isLoud: false, gapMs: null };
  let isDoubled = false;
  const { digest } = await openApp("/runs?order=newest", (server) =>
    server.answer("GET /api/groups", () => ({
      ...newest,
      groups: [isDoubled ? doubled : { ...once, counts: { ...once.counts, slipped: 0 } }],
    })),
  );
  await waitFor(() => expect(textsOf(".groups .row")).toHaveLength(1));
  expect(textsOf(`${loud} .block`)).toEqual([]);
  isDoubled = true;
  digest({ groups: [ids.group], isCut: false });
  await waitFor(() => expect(textsOf(`${loud} .block`)).toEqual(["×2"]));
});

test("a group opens in place with everybody who asked, and the later run can be cancelled there", async () => {
  const { user, address, server } = await openApp(`/runs?show=doubled&open=${ids.group}`, (server) =>
    server.answer("POST /api/runs/:run/cancel", { cancelled: true, state: "cancelled" }),
  );
  await waitFor(() => expect(textsOf(".group-panel .place")).toEqual(["first run", "slipped through"]));
  await user.click(screen.getByRole("button", { name: "Cancel the later run" }));
  const { getByRole } = await findDialog();
  await user.click(getByRole("button", { name: "Cancel the later run" }));
  await findWords("Cancelled 1 run.");
  expect(server.sent("POST /api/runs/:run/cancel")).toMatchObject([{ path: `/api/runs/${ids.billedAgain}/cancel` }]);
  await user.keyboard("{Escape}");
  await waitFor(() => expect(address().searchParams.get("open")).toBeNull());
});

test("a key with many askers lists a hundred, and the others at a click", async () => {
  const askers = recorded("GET /api/groups/:group/askers");
  const [first, second] = askers.askers;
  const many = Array.from({ length: 120 }, (_, i) => ({
    ...(i === 0 ? first! : second!),
    eventId: `01KEY${`${i}`.padStart(21, "0")}`,
  }));
  const { user } = await openApp(`/runs?show=doubled&open=${ids.group}`, (server) =>
    server.answer("GET /api/groups/:group/askers", ({ query }) => ({
      ...askers,
      askers: query.after === undefined ? many.slice(0, 100) : many.slice(100),
      next: query.after === undefined ? "further" : null,
      askerCount: 120,
      total: 120,
    })),
  );
  await waitFor(() => expect(textsOf(".group-panel li")).toHaveLength(100));
  await user.click(screen.getByRole("button", { name: /Show more of those who asked/ }));
  await waitFor(() => expect(textsOf(".group-panel li")).toHaveLength(120));
});

test("the address holds the view: what is chosen and typed is in it, and what is in it is shown", async () => {
  const { user, address, server } = await openApp("/runs?order=newest", (server) =>
    prepareOthers(server).answer("GET /api/groups", ({ query }, answer) =>
      query.q === undefined ? (answer ?? newest) : groupsWith("Lm"),
    ),
  );
  await waitFor(() => expect(keysShown().length).toBeGreaterThan(10));
  await user.selectOptions(screen.getByLabelText("Function"), story.payments);
  await waitFor(() => expect(address().searchParams.get("fn")).toBe(story.payments));
  await user.type(screen.getByLabelText(/Filter by text/), "Lm");
  await waitFor(() => expect(keysShown()).toEqual(["pi_3RPq7Lm"]));
  expect(Object.fromEntries(address().searchParams)).toEqual({ order: "newest", fn: story.payments, q: "Lm" });
  expect(server.sent("GET /api/groups").at(-1)!.query).toMatchObject({ fn: story.payments, q: "Lm", order: "newest" });
});

test("an expression narrows by event and output; a mistake in it is said under the field and the rows stay", async () => {
  const { user, address, server } = await openApp("/runs?order=newest", (server) =>
    prepareOthers(server).answer("GET /api/groups", ({ query }, answer) =>
      query.cel === undefined ? (query.q === undefined ? answer : { ...newest, groups: [] }) : groupsWith("Lm"),
    ),
  );
  const field = await screen.findByLabelText(/Filter by text/);
  await waitFor(() => expect(keysShown().length).toBeGreaterThan(10));
  await user.type(field, "event.data.amount > 100000");
  await waitFor(() => expect(keysShown()).toEqual(["pi_3RPq7Lm"]));
  expect(address().searchParams.get("cel")).toBe("event.data.amount > 100000");
  await user.clear(field);
  server.refuse("GET /api/groups", { status: 400, code: "EXPRESSION_INVALID", detail: "There is one > too many" });
  await user.type(field, "event.data.amount > > 1");
  await waitFor(() => expect(textsOf(".mistake")).toHaveLength(1));
  expect(field.getAttribute("aria-invalid")).toBe("true");
  expect(keysShown()).toEqual(["pi_3RPq7Lm"]);
  server.answer("GET /api/groups", ({ query }, answer) => (query.q === undefined ? answer : { ...newest, groups: [] }));
  await user.clear(field);
  await user.type(field, "nothing has this text");
  await findWords("No run matches");
  await user.click(screen.getByRole("button", { name: "Clear the filter" }));
  await waitFor(() => expect(keysShown().length).toBeGreaterThan(10));
});

test("a list that found nothing yet says back to when it looked, and looks further only when it is asked", async () => {
  const lookedBackTo = Date.UTC(2026, 4, 12, 10);
  const { user, server } = await openApp("/runs?order=newest&q=pi_3RPq7Lm", (server) =>
    prepareOthers(server).answer("GET /api/groups", ({ query }) =>
      query.before === undefined
        ? { ...newest, groups: [], next: "further", isPartial: true, lookedBackTo }
        : { ...groupsWith("pi_3RPq7Lm"), next: null, lookedBackTo: null },
    ),
  );
  await findWords(/None so far\. Looked back to 12 May.*10:00/);
  const further = () => server.sent("GET /api/groups").filter(({ query }) => query.before !== undefined);
  expect(further()).toEqual([]);
  await user.click(screen.getByRole("button", { name: "Look further back" }));
  await waitFor(() => expect(keysShown()).toEqual(["pi_3RPq7Lm"]));
  expect(further().map(({ query }) => query.before)).toEqual(["further"]);
});

test("grouped by function, by event and by nothing at a key press, doubled ones stay marked", async () => {
  const { user, address } = await openApp("/runs");
  await waitFor(() => expect(textsOf(`.groups ${loud}`).length).toBeGreaterThan(0));
  await user.keyboard("2");
  await findWords(story.drafts, ".by-function .is-loud");
  await user.keyboard("3");
  await findWords("duplicate key of", ".by-event .row");
  await user.keyboard("4");
  await findWords("2 of 2", `.by-run ${loud}`);
  expect(address().searchParams.get("group")).toBe("none");
  await user.keyboard("1");
  await waitFor(() => expect(textsOf(`.groups ${loud}`).length).toBeGreaterThan(0));
});

test("while somebody reads, new keys wait behind a button", async () => {
  let hasNew = false;
  const late = { ...newest.groups[0]!, id: "01ZZZZZZZZZZZZZZZZZZZZZZZZ", label: "pi_new_1", key: "pi_new_1" };
  const { user, digest } = await openApp("/runs?order=newest", (server) =>
    server.answer("GET /api/groups", () => ({ ...newest, groups: hasNew ? [late, ...newest.groups] : newest.groups })),
  );
  await waitFor(() => expect(keysShown().length).toBeGreaterThan(10));
  const before = keysShown();
  document.querySelector<HTMLElement>(".row-link")!.focus();
  hasNew = true;
  digest();
  const held = await screen.findByRole("button", { name: "1 new key" });
  expect(keysShown()).toEqual(before);
  await user.click(held);
  await waitFor(() => expect(keysShown()[0]).toBe("pi_new_1"));
});

test("an empty store says what to do", async () => {
  const nothing = { ...recorded("GET /api/totals"), asked: 0, first: 0, suppressed: 0, slipped: 0, buckets: [] };
  await openApp("/runs?order=newest", (server) =>
    server
      .answer("GET /api/groups", { ...newest, pinned: null, groups: [], next: null, totals: nothing })
      .answer("GET /api/totals", nothing),
  );
  await findWords("Nothing has run yet");
  await findWords("await idem.send(");
});

test("a filter by state is told by its own headline and number, and never with a tick", async () => {
  await openApp("/runs?state=failed");
  expect(await textAt(".headline h2")).toBe("2 runs failed in the last 7 days");
  expect(document.querySelector(".headline .note")!.className).toContain("is-failed");
  // Numbers of other runs than the list has are not shown over it.
  expect(textsOf(".summary")).toEqual([]);
});

test("runs that wait for their turn have their own headline", async () => {
  await openApp("/runs?state=queued");
  expect(await textAt(".headline h2")).toBe("4 runs stand in line");
});

test("each function is in the filter once, under the name that finds its runs", async () => {
  await openApp("/runs");
  await waitFor(() => expect(textsOf(".row").length).toBeGreaterThan(3));
  const names = [...screen.getByLabelText("Function").querySelectorAll("option")].map(({ textContent }) => textContent);
  expect(names).toEqual([
    "all",
    ...recorded("GET /api/functions")
      .functions.map((each) => each.function)
      .sort(),
  ]);
});

test("keys of strangers are text: markup, directions and control characters change nothing around them", async () => {
  const keys = [
    "<script>window.hacked=1</script>",
    '"><img src=x onerror="window.hacked=1">',
    "\u202Egnp.exe\u0000\u0007",
  ];
  const { main } = await openApp("/runs?order=newest", (server) =>
    server.answer("GET /api/groups", {
      ...newest,
      groups: keys.map((key, i) => ({ ...newest.groups[0]!, id: `01KEY${i}`, key, label: key, isLoud: false })),
    }),
  );
  await waitFor(() => expect(keysShown()).toHaveLength(3));
  expect(keysShown()).toContain("<script>window.hacked=1</script>");
  expect(keysShown()).toContain("‹U+202E›gnp.exe␀␇");
  expect(main().querySelectorAll("img, script")).toHaveLength(0);
});

test("columns that were chosen stand in the address, and a view is saved with what is shown", async () => {
  const view = { name: "Slow ones", page: "runs" as const, query: "group=none" };
  const { user, address, server } = await openApp("/runs?group=none", (server) =>
    prepareOthers(server)
      .answer(
        "GET /api/groups",
        (_, answer) => answer ?? recorded("GET /api/groups", "group=none&limit=100&order=newest&since"),
      )
      .answer("PUT /api/views/:view", { view }),
  );
  await waitFor(() => expect(textsOf(".list .row").length).toBeGreaterThan(10));
  await user.selectOptions(screen.getByLabelText("Order"), "longest first");
  await waitFor(() => expect(textsOf(".list .head > span")).toContain("Took"));
  await user.click(screen.getByRole("button", { name: "Columns" }));
  await user.click(screen.getByRole("checkbox", { name: "Ended" }));
  await user.click(screen.getByRole("checkbox", { name: "Function" }));
  await waitFor(() =>
    expect(textsOf(".list .head > span")).toEqual(["Run", "Key", "Took", "Ended", "State, start and output"]),
  );
  expect(server.sent("GET /api/groups").at(-1)!.query.order).toBe(address().searchParams.get("order"));
  await user.click(screen.getByRole("button", { name: "Views" }));
  await user.type(screen.getByLabelText("Save what is shown as"), "Slow ones");
  await user.click(screen.getByRole("button", { name: "Save the view" }));
  await waitFor(() => expect(server.sent("PUT /api/views/:view")).toHaveLength(1));
  expect(server.sent("PUT /api/views/:view")[0]).toMatchObject({ path: "/api/views/Slow%20ones" });
});

const counted = {
  matchedCount: 6,
  willCount: 5,
  leftOut: [{ why: "done-later" as const, count: 1, runIds: [ids.paid] }],
  oldestAt: record.recordedAt - 60_000,
  countedAt: record.recordedAt,
  isAll: true,
};
const done: Answer<"GET /api/bulk/:bulk">["bulk"] = {
  id: "bulk-1",
  action: "rerun",
  filter: {},
  reason: "gateway is back",
  state: "completed",
  matchedCount: 6,
  doneCount: 5,
  skippedCount: 1,
  leftOut: counted.leftOut,
  outcomes: [{ state: "completed", count: 5, runIds: [] }],
  pace: null,
  failedCount: 0,
  failures: [],
  error: null,
  startedAt: record.recordedAt,
  endedAt: record.recordedAt,
};

test("rows are ticked one by one, by x and as a range; they are counted before anything is done, then rerun with a reason", async () => {
  const { user, server } = await openApp("/runs?group=none", (server) =>
    server
      .answer("POST /api/bulk", ({ body }) => (body.dryRun === true ? counted : { bulk: done }))
      .answer("GET /api/bulk/:bulk", { bulk: done }),
  );
  await waitFor(() => expect(textsOf(".by-run .row").length).toBeGreaterThan(10));
  const status = () => textAt(".bulk-bar [role=status]");
  const boxes = () => [...document.querySelectorAll<HTMLElement>(".pick input")];
  await user.keyboard("j");
  await user.keyboard("x");
  await waitFor(async () => expect(await status()).toMatch(/^1 of \d+ shown here selected\./));
  await user.keyboard("{Shift>}");
  await user.click(boxes()[3]!);
  await user.keyboard("{/Shift}");
  await waitFor(async () => expect(await status()).toMatch(/^4 of \d+ shown here selected\./));
  await user.click(boxes()[1]!);
  await waitFor(async () => expect(await status()).toMatch(/^3 of \d+ shown here selected\./));
  await user.click(screen.getByRole("button", { name: "Rerun…" }));
  const { getByRole, getByLabelText, text } = await findDialog();
  await waitFor(() => expect(text()).toContain("Nothing has been started yet."));
  expect(text()).toContain("is left out: a later run of the same key is completed");
  const act = getByRole("button", { name: "Rerun 5 runs" });
  expect(act).toHaveProperty("disabled", true);
  await user.type(getByLabelText("Reason, for the audit"), "gateway is back");
  expect(server.sent("POST /api/bulk").every(({ body }) => body.dryRun === true)).toBe(true);
  expect(server.sent("POST /api/bulk")[0]!.body.filter.runs).toHaveLength(3);
  await user.selectOptions(getByLabelText("Pace"), "");
  await user.click(act);
  await findWords("Done: 5 runs started", "dialog h2");
  await findWords(/5\s*completed/, "dialog");
  const [started, ...others] = server.sent("POST /api/bulk").filter(({ body }) => body.dryRun !== true);
  expect(started!.body).toMatchObject({ action: "rerun", reason: "gateway is back" });
  expect(others).toEqual([]);
});

test("c compares the first two runs of the key that has the focus", async () => {
  const { user, address } = await openApp("/runs?show=doubled");
  await waitFor(() => expect(textsOf(loud)).toHaveLength(4));
  await user.keyboard("j");
  await user.keyboard("c");
  await waitFor(() => expect(address().pathname).toBe(`/runs/${ids.billed}/compare/${ids.billedAgain}`));
});

test("duplicates of a key are rings beside its first run, each with its own line when opened", async () => {
  const askers = recorded("GET /api/groups/:group/askers");
  const payment = newest.groups.find(({ label }) => label.includes("pi_3RPq7Lm"))!;
  const { user } = await openApp("/runs?order=newest", (server) =>
    server.answer("GET /api/groups/:group/askers", {
      ...askers,
      group: payment,
      askers: [
        askers.askers[0]!,
        ...[1, 2, 3].map((i) => ({ ...askers.askers[1]!, eventId: `01KEY${i}`, place: "suppressed" as const })),
      ],
    }),
  );
  await user.click(await screen.findByRole("button", { name: /first run, 3 duplicates suppressed/ }));
  await waitFor(() =>
    expect(textsOf(".group-panel .place")).toEqual(["first run", "suppressed", "suppressed", "suppressed"]),
  );
});

test("a link that is shared is about the time that was seen, whenever it is opened", async () => {
  const { user } = await openApp("/runs?since=24h&group=none", (server) =>
    prepareOthers(server).answer("GET /api/groups", () =>
      recorded("GET /api/groups", "group=none&limit=100&order=newest&since"),
    ),
  );
  await waitFor(() => expect(textsOf(".list .row").length).toBeGreaterThan(10));
  await user.click(screen.getByRole("button", { name: "Copy link" }));
  await findWords("Its time is pinned");
  const link = new URL(await navigator.clipboard.readText());
  const [since, until] = ["since", "until"].map((name) => Date.parse(link.searchParams.get(name)!));
  expect(until! - since!).toBe(86_400_000);
  expect(until).toBeGreaterThanOrEqual(record.recordedAt);
  expect(link.searchParams.get("group")).toBe("none");
});
