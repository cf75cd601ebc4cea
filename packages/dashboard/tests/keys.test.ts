// The pages Keys, in a real browser over a real server.
import { afterAll, beforeAll, expect, test } from "vitest";
import { claimName, readClaimName } from "../src/pages/keys/claim-name.ts";
import { expectSoundPages } from "./accessibility.ts";
import { visit } from "./browser.ts";
import { openWorld, type Story, tellStory, type World } from "./world.ts";

let world: World;
let story: Story;
let keyAddress: string;

beforeAll(async () => {
  world = await openWorld({ radar: false });
  story = await tellStory(world, { placements: 2 });
  keyAddress = `${world.origin}/keys/${encodeURIComponent(claimName({ scope: `fn:${story.payments}`, key: story.payment.key }))}`;
});
afterAll(() => world?.close());

test("a claim's place in an address is read back as it was, whatever stands in its key", () => {
  for (const key of ["", "7", '"a/b~c"', "~-", "~0~1", "%2F", '{"a":1}', "ключ"]) {
    const place = { scope: "fn:shop/a~b", key };
    expect(readClaimName(claimName(place))).toEqual(place);
    expect(claimName(place)).not.toContain("/");
  }
});

test("keys of every layer are listed, the most asked for first, with who holds them and how often they answered", async () => {
  const page = await visit(`${world.origin}/keys`);
  const rows = page.locator(".list .row");
  await expect.poll(() => rows.count()).toBeGreaterThan(5);
  const [first] = await rows.allInnerTexts();
  expect(first).toMatch(/function key[\s\S]*agency-record-stripe-payment[\s\S]*pi_3RPq7Lm[\s\S]*3[\s\S]*h 59 m left/);
  await page.getByRole("combobox", { name: "Layer" }).selectOption("event");
  await expect.poll(() => page.url()).toContain("layer=event");
  await expect
    .poll(() => rows.allInnerTexts().then((texts) => texts.every((text) => text.includes("event id"))))
    .toBe(true);
  await page.getByLabel("Part of a key").fill("RPPX0C");
  await expect.poll(() => rows.allInnerTexts().then((texts) => texts.join())).toContain("stripe:evt_1RPpX0c");
  await expect.poll(() => rows.count()).toBe(1);
  expect(page.troubles).toEqual([]);
});

test("a key is released with a reason, and then the next event with it starts a run", async () => {
  const page = await visit(keyAddress);
  const askers = page.getByRole("table", { name: "Who asked" });
  await expect.poll(() => askers.innerText()).toContain("first, started the run");
  expect(await askers.innerText()).toContain("other data.amount");
  await page.getByRole("button", { name: "Release" }).click();
  const dialog = page.getByRole("dialog");
  expect(await dialog.innerText()).toContain(
    "The next event with this key will start a run. Destination keys stay the same.",
  );
  const act = dialog.getByRole("button", { name: "Release the key" });
  expect(await act.isDisabled()).toBe(true);
  await dialog.getByLabel("Reason").fill("refunded by hand");
  await act.click();
  await expect.poll(() => page.getByText("was released").count()).toBe(1);
  await expect.poll(() => page.locator(".window-bar").innerText()).toBe("released");
  expect(await page.getByRole("button", { name: "Release" }).count()).toBe(0);
  const { entries } = await world.api("/api/audit?limit=50");
  expect(JSON.stringify(entries)).toContain("refunded by hand");
  const sent = await world.send({ name: "stripe/payment.succeeded", data: { payment: "pi_3RPq7Lm", amount: 428_000 } });
  expect(sent.decisions[0]!.kind).toBe("started");
});

test("a key nobody holds says so", async () => {
  const page = await visit(`${world.origin}/keys/${encodeURIComponent(claimName({ scope: "fn:none", key: "7" }))}`);
  await expect.poll(() => page.getByText("Nobody holds this key").count()).toBe(1);
});

test("the pages have no finding of axe, and never scroll sideways in either size", async () => {
  await expectSoundPages(world.origin, ["/keys", keyAddress.slice(world.origin.length)]);
});
