// The pages Webhooks and one source, in a real browser over a real server, with deliveries as a provider would make them.
import { stripe } from "idem/webhooks";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectSoundPages } from "./accessibility.ts";
import { visit } from "./browser.ts";
import { openWorld, type World } from "./world.ts";

let world: World;

beforeAll(async () => {
  world = await openWorld({ radar: false });
});
afterAll(() => world?.close());

const open = (path: string) => visit(`${world.origin}${path}`);
const secret = "whsec_of_the_agency";

async function deliver(id: string, signedWith = secret): Promise<number> {
  const bytes = Buffer.from(JSON.stringify({ id, type: "invoice.paid", data: { object: { id: "in_1" } } }));
  const url = `${world.origin}/w/stripe`;
  const { headers } = stripe({ secrets: [signedWith] }).sign({
    secret: signedWith,
    bytes,
    url,
    id: "",
    type: null,
    at: Date.now(),
  });
  return (
    await fetch(url, { method: "POST", headers: { "content-type": "application/json", ...headers }, body: bytes })
  ).status;
}

test("without a source one picks a provider; its address is there to paste, and its deliveries are told in words", async () => {
  const page = await open("/webhooks");
  await expect.poll(() => page.getByText("No source yet: pick a provider").count()).toBe(1);
  await page.getByRole("button", { name: "Stripe", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await expect.poll(() => dialog.getByRole("button", { name: "Add the source" }).isDisabled()).toBe(true);
  await dialog.getByLabel("Secret", { exact: true }).fill(secret);
  await dialog.getByRole("button", { name: "Add the source" }).click();
  await expect.poll(() => page.locator(".address code").innerText()).toBe(`${world.origin}/w/stripe`);
  expect(await page.locator("main").innerText()).toContain(
    "Stripe delivers again for up to 3 d; each delivery is known for 35 d",
  );

  expect([
    await deliver("evt_1"),
    await deliver("evt_1"),
    await deliver("evt_2"),
    await deliver("evt_3", "whsec_wrong"),
  ]).toEqual([200, 200, 200, 401]);
  // No stream tells of deliveries: the page asks every 5 s, and when it is loaded.
  await page.reload();
  const rows = page.getByRole("table", { name: "Newest deliveries" }).locator("tbody tr");
  await expect.poll(() => rows.count()).toBe(4);
  const texts = await rows.allInnerTexts();
  expect(texts[0]).toContain("Signature was made with another secret");
  expect(texts[1]).toContain("Genuine and new");
  expect(texts[2]).toContain("Genuine, known already: nothing started");
  expect(await page.content()).not.toContain(secret);

  await page.getByRole("navigation", { name: "Main" }).first().getByRole("link", { name: "Webhooks" }).click();
  await expect
    .poll(() =>
      page
        .getByRole("cell")
        .allInnerTexts()
        .then((cells) => cells.slice(1, 5).map((text) => text.trim())),
    )
    .toEqual(["4", "2", "1", "1 refused"]);
  expect(await page.locator(".note").innerText()).toContain("1 delivery was refused");
  expect(page.troubles).toEqual([]);
});

test("a secret that is made here is shown once: after that it stands on no page and in no answer", async () => {
  const page = await open("/webhooks");
  await page.getByRole("button", { name: "Add a source" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Provider").selectOption("github");
  expect(await dialog.getByLabel("Name").inputValue()).toBe("github");
  await dialog.getByRole("button", { name: "Add the source" }).click();
  await expect.poll(() => dialog.locator(".secret").count()).toBe(1);
  const made = await dialog.locator(".secret").innerText();
  expect(made).toMatch(/^[0-9a-f]{64}$/);
  await dialog.getByRole("button", { name: "I have stored it" }).click();
  await expect.poll(() => page.locator("h1").innerText()).toBe("github");
  await expect.poll(() => page.locator(".address").count()).toBe(1);
  expect(await page.content()).not.toContain(made);
  expect(JSON.stringify(await world.api("/api/webhooks/github"))).not.toContain(made);
});

test("while a secret is rotated both are accepted, and once the old one is dropped only the new", async () => {
  const page = await open("/webhooks/stripe");
  await page.getByRole("button", { name: "Rotate the secret" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("New secret").fill("whsec_the_next");
  await dialog.getByRole("button", { name: "Accept the new secret too" }).click();
  await expect.poll(() => page.getByRole("button", { name: "Drop the old secret" }).count()).toBe(1);
  expect([await deliver("evt_10"), await deliver("evt_11", "whsec_the_next")]).toEqual([200, 200]);
  await page.getByRole("button", { name: "Drop the old secret" }).click();
  await dialog.getByRole("button", { name: "Drop the old secret" }).click();
  await expect.poll(() => page.getByRole("button", { name: "Rotate the secret" }).count()).toBe(1);
  expect([await deliver("evt_12"), await deliver("evt_13", "whsec_the_next")]).toEqual([401, 200]);
});

test("they are sound to assistive technology, and never scroll sideways in either size", async () => {
  await expectSoundPages(world.origin, ["/webhooks", "/webhooks/stripe", "/webhooks/none"]);
});

test("whoever removes a source says why; its provider is refused from then on, and what it delivered stays", async () => {
  const page = await open("/webhooks/stripe");
  await page.getByRole("button", { name: "Remove the source" }).click();
  const remove = page.getByRole("dialog").getByRole("button", { name: "Remove stripe" });
  expect(await remove.isDisabled()).toBe(true);
  await page.getByLabel("Reason").fill("moved to the app");
  await remove.click();
  await expect.poll(() => page.locator("h1").innerText()).toBe("Webhooks");
  expect(await deliver("evt_20", "whsec_the_next")).toBe(404);
  expect((await world.api("/api/events?name=stripe%2Finvoice.paid")).events.length).toBeGreaterThan(0);
});
