// The pages Events and Send a test event, in a real browser over a real server.
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectSoundPages } from "./accessibility.ts";
import { visit } from "./browser.ts";
import { openWorld, type Story, tellStory, type World } from "./world.ts";

let world: World;
let story: Story;

beforeAll(async () => {
  world = await openWorld({ radar: false });
  story = await tellStory(world, { placements: 3 });
});
afterAll(() => world?.close());

test("the log says of each event what was decided, and what came again stands under its first", async () => {
  const page = await visit(`${world.origin}/events`);
  const rows = page.locator(".list .row");
  await expect.poll(() => rows.count()).toBeGreaterThan(10);
  const texts = await rows.allInnerTexts();
  const at = texts.findIndex((text) => text.includes("stripe:evt_1RP"));
  expect(texts[at]).toContain("started agency-record-stripe-payment");
  expect(texts[at]).toContain("webhook stripe");
  expect(texts[at + 1]).toContain("duplicate of");
  expect(texts.filter((text) => text.includes("duplicate key of agency-record-stripe-payment"))).toHaveLength(3);
  expect(texts.some((text) => text.includes("no function has this trigger"))).toBe(true);
  expect(await page.title()).toBe("Events · Idem");
  expect(page.troubles).toEqual([]);
});

test("the address holds the filter: it is read from it, written into it, and back goes back", async () => {
  const page = await visit(`${world.origin}/events?name=agency%2Fweek.ended`);
  const rows = page.locator(".list .row");
  await expect.poll(() => rows.count()).toBe(1);
  await page.getByLabel("Only events of this name").fill("agency/candidate.changed");
  await expect.poll(() => page.url()).toContain("name=agency%2Fcandidate.changed");
  await expect.poll(() => rows.allInnerTexts().then((texts) => texts.join())).toContain("sync-candidate-to-crm");
  await rows.first().locator(".row-link").click();
  await expect.poll(() => page.locator("h2").first().innerText()).toBe("agency/candidate.changed");
  await page.goBack();
  await expect.poll(() => rows.count()).toBe(1);
  expect(page.url()).toContain("name=agency%2Fcandidate.changed");
  await page.getByLabel("Only events of this name").fill("nobody/sends.this");
  await expect.poll(() => page.getByText("No event matches").count()).toBe(1);
});

test("an event that arrives appears without a reload while nobody reads, and waits behind a button while somebody does", async () => {
  const page = await visit(`${world.origin}/events?name=agency%2Flate`);
  await expect.poll(() => page.getByText("No event matches").count()).toBe(1);
  await page.mouse.move(10, 10);
  await world.send({ name: "agency/late", id: "late-1", data: {} });
  await expect.poll(() => page.locator(".list .row").count(), { timeout: 10_000 }).toBe(1);
  await page.locator(".list .row").hover();
  await world.send({ name: "agency/late", id: "late-2", data: {} });
  await expect.poll(() => page.getByRole("button", { name: "1 new event" }).count(), { timeout: 10_000 }).toBe(1);
  expect(await page.locator(".list .row").count()).toBe(1);
  await page.getByRole("button", { name: "1 new event" }).click();
  await expect.poll(() => page.locator(".list .row").count()).toBe(2);
});

test("one event shows its decisions with the reason, its key and what differed from the first", async () => {
  const { events } = await world.api(`/api/events?name=stripe/payment.succeeded&limit=10`);
  const details = await Promise.all(events.map((event: any) => world.api(`/api/events/${event.internalId}`)));
  const other = details.find((each: any) => each.decisions.some(({ differs }: any) => differs.includes("data.amount")));
  const page = await visit(`${world.origin}/events/${other.event.internalId}`);
  const table = page.getByRole("table", { name: "Decisions" });
  await expect.poll(() => table.innerText()).toContain("duplicate, its key is taken");
  expect(await table.innerText()).toContain("other data.amount");
  await table.getByRole("link", { name: "pi_3RPq7Lm" }).click();
  await expect.poll(() => page.locator("h1").innerText()).toContain("Function key of agency-record-stripe-payment");
});

test("a test event that is sent twice shows on the spot that the second time nothing ran", async () => {
  const page = await visit(`${world.origin}/events/new`);
  await page.getByLabel("Name").fill("stripe/payment.succeeded");
  await page.getByLabel("Data", { exact: true }).fill('{"payment": "pi_test", "amount": 900}');
  await page.getByRole("button", { name: "Send it twice" }).click();
  const decided = page.locator(".sent");
  await expect.poll(() => decided.count()).toBe(2);
  const [first, second] = await decided.allInnerTexts();
  expect(first).toContain("started a run");
  expect(second).toContain("duplicate, its id came before");
  await decided.first().getByRole("link").first().click();
  await expect.poll(() => page.locator(".payload").innerText()).toContain("pi_test");
});

test("a payload cannot do anything: it is shown as the text it is", async () => {
  const hostile = {
    html: '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>',
    rtl: "abc\u202Egpj.exe",
    control: "a\u0000b\u001b[31m",
    long: "x".repeat(5_000),
    many: Array.from({ length: 200 }, (_, i) => i),
  };
  const sent = await world.send({ name: "agency/<b>hostile</b>", data: hostile });
  const nested = JSON.parse(`${"[".repeat(60)}1${"]".repeat(60)}`);
  const deep = await world.send({ name: "agency/deep", data: { nested } });
  const page = await visit(`${world.origin}/events/${sent.ids[0]}`);
  const payload = page.locator(".payload");
  await expect.poll(() => payload.innerText()).toContain("<script>window.hacked=1</script>");
  const text = await payload.innerText();
  expect(text).toContain("abc‹U+202E›gpj.exe");
  expect(text).toContain("a␀b␛[31m");
  expect(text).not.toContain("x".repeat(500));
  expect(text).toContain("Show all (4.9 KB)");
  expect(await page.locator("h2").first().innerText()).toBe("agency/<b>hostile</b>");
  await payload.getByRole("button", { name: /195 more/ }).click();
  await expect.poll(() => payload.innerText()).toContain("(200 in all)");
  expect(await page.evaluate(() => (window as any).hacked)).toBeUndefined();
  expect(page.troubles).toEqual([]);
  await page.goto(`${world.origin}/events/${deep.ids[0]}`);
  await expect.poll(() => page.locator(".payload").innerText()).toContain("[ … ]");
});

test("resending asks first, says that the id is new, and leads to the new event", async () => {
  const page = await visit(`${world.origin}/events/${story.payment.event}`);
  await page.getByRole("button", { name: "Resend" }).click();
  const dialog = page.getByRole("dialog");
  expect(await dialog.innerText()).toContain("under a new id");
  await page.keyboard.press("Escape");
  await expect.poll(() => dialog.count()).toBe(0);
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Resend");
  await page.keyboard.press("Enter");
  await dialog.getByRole("button", { name: "Resend under a new id" }).click();
  await expect.poll(() => page.url()).not.toContain(story.payment.event);
  await expect
    .poll(() => page.getByRole("table", { name: "Decisions" }).innerText())
    .toContain("duplicate, its key is taken");
});

test("everything is reached with the keyboard: rows with j and k, pages with g, the list of keys with ?", async () => {
  const page = await visit(`${world.origin}/events`);
  await expect.poll(() => page.locator(".list .row").count()).toBeGreaterThan(10);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  expect(await page.evaluate(() => document.activeElement?.closest<HTMLElement>("[data-index]")?.dataset.index)).toBe(
    "0",
  );
  await page.keyboard.press("Enter");
  await expect.poll(() => page.url()).toMatch(/\/events\/01/);
  await page.keyboard.press("g");
  await page.keyboard.press("k");
  await expect.poll(() => page.locator("h1").innerText()).toBe("Keys");
  await page.keyboard.press("?");
  await expect.poll(() => page.getByRole("dialog").innerText()).toContain("Go to Events");
});

test("events are found by what became of them and by function, and the address keeps it", async () => {
  const page = await visit(`${world.origin}/events`);
  const names = () => page.locator(".list .row .what").allInnerTexts();
  await page.getByLabel("Became").selectOption("no function listens");
  await expect.poll(async () => (await names()).at(-1)).toBe("agency/nobody.listens");
  expect(await page.locator(".list .row .decisions").allInnerTexts()).not.toContainEqual(
    expect.stringMatching(/started|duplicate/),
  );
  expect(new URL(page.url()).searchParams.get("outcome")).toBe("unheard");
  await page.getByLabel("Became").selectOption("duplicate");
  await expect
    .poll(async () => new Set(await names()))
    .toEqual(new Set(["stripe/payment.succeeded", "agency/candidate.placed"]));
  await page.getByLabel("Function", { exact: true }).selectOption(story.payments);
  await expect.poll(async () => new Set(await names())).toEqual(new Set(["stripe/payment.succeeded"]));
  await page.reload();
  await expect.poll(async () => new Set(await names())).toEqual(new Set(["stripe/payment.succeeded"]));
});

test("of a long list only what is in sight is drawn, older rows come by scrolling, and back comes back to the same place", async () => {
  const many = Array.from({ length: 350 }, (_, i) => ({ name: "agency/many", id: `many-${i}`, data: { i } }));
  await world.send(...many);
  const page = await visit(`${world.origin}/events?name=agency%2Fmany`);
  const rows = page.locator(".list .row");
  await expect.poll(() => rows.count()).toBe(100);
  await expect
    .poll(async () => {
      await page.mouse.wheel(0, 4_000);
      return page.getByText("many-0", { exact: true }).count();
    })
    .toBe(1);
  expect(await rows.count()).toBeLessThan(100);
  await page.getByText("many-5", { exact: true }).scrollIntoViewIfNeeded();
  const before = await page.evaluate(() => scrollY);
  await rows.filter({ hasText: "many-5" }).first().locator(".row-link").click();
  await expect.poll(() => page.locator("h2").first().innerText()).toBe("agency/many");
  await page.goBack();
  await expect.poll(() => page.evaluate(() => scrollY)).toBe(before);
  expect(await page.getByText("many-5", { exact: true }).count()).toBe(1);
});

test("the pages have no finding of axe, and never scroll sideways in either size", async () => {
  await expectSoundPages(world.origin, ["/events", `/events/${story.again.first}`, "/events/new"]);
});
