// Signing in: one field, one button, and what is refused is said in words.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { axeFindings } from "./accessibility.ts";
import { looks, scrollsSideways, visit, type WatchedPage, wear } from "./browser.ts";
import { define, openWorld, type World } from "./world.ts";

const passwords = { password: "open sesame tonight", viewerPassword: "look but not touch" };
const authorization = `Basic ${btoa(`tool:${passwords.password}`)}`;

let world: World;

beforeAll(async () => {
  world = await openWorld({
    mode: "start",
    eventKeys: ["9e41c7d20ab85f36"],
    signingKeys: ["4f2a9c0e7b1d8356af03c9e2517bd864"],
    ...passwords,
  });
  await define(world, { id: "draft-invoice" }, { event: "placement/changed" }, () => ({ id: "in_1" }));
  for (const eventType of ["INSERTED", "UPDATED"]) {
    const events = [48_213, 48_209, 48_207].map((placementId) => ({
      name: "placement/changed",
      data: { placementId, eventType },
    }));
    await ask("/api/events", {
      method: "POST",
      body: JSON.stringify({ events }),
      headers: { "content-type": "application/json" },
    });
  }
  await vi.waitFor(async () => expect((await (await ask("/api/radar/alerts")).json()).openCount).toBe(1), {
    timeout: 60_000,
    interval: 100,
  });
});

afterAll(() => world?.close());

const ask = (path: string, init: RequestInit = {}) =>
  fetch(`${world.origin}${path}`, { ...init, headers: { ...init.headers, authorization } });

async function signIn(page: WatchedPage, password: string): Promise<void> {
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

test("whoever is not signed in is asked to, and comes back to where they were", async () => {
  const page = await visit(`${world.origin}/radar/rules`);
  await page.getByLabel("Password").waitFor();
  expect(new URL(page.url()).pathname).toBe("/login");
  await signIn(page, passwords.password);
  await page
    .getByText(/our best guess/)
    .first()
    .waitFor();
  expect(new URL(page.url()).pathname).toBe("/radar/rules");

  // Signing out ends the session for the server, too.
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Password").waitFor();
  expect(await page.evaluate(async () => (await fetch("/api/status")).status)).toBe(401);
  expect(page.troubles).toEqual([]);
});

test("an address of another site is no place to come back to", async () => {
  const page = await visit(`${world.origin}/login?to=${encodeURIComponent("//elsewhere.example/radar")}`);
  await signIn(page, passwords.password);
  await expect.poll(() => new URL(page.url()).pathname).not.toBe("/login");
  expect(new URL(page.url()).origin).toBe(world.origin);
});

test("a request that shows the cookie and not the session's word is refused, and a page whose session changed goes on", async () => {
  const page = await visit(`${world.origin}/radar`);
  await signIn(page, passwords.password);
  await page.locator(".alert-card").waitFor();
  const refused = await page.evaluate(async () => {
    const answer = await fetch("/api/radar/rules/mine", {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ of: "key", reason: "x" }),
    });
    return { status: answer.status, code: (await answer.json()).code };
  });
  expect(refused).toEqual({ status: 403, code: "CSRF_REFUSED" });

  // Signed in anew in another tab: the word this page knows is an old one.
  const tab = await page.context().newPage();
  await tab.goto(`${world.origin}/login`);
  await signIn(Object.assign(tab, { troubles: [] }), passwords.password);
  await tab.locator(".side-bar").waitFor();
  await page.getByRole("button", { name: "Acknowledge" }).click();
  await page.getByRole("dialog").getByLabel("Reason").fill("seen");
  await page.getByRole("button", { name: "Acknowledge the alert" }).click();
  await page
    .getByText(/Acknowledged by operator session/)
    .first()
    .waitFor();
});

test("the page to sign in is accessible in both themes and sizes", async () => {
  const page = await visit(`${world.origin}/login`);
  await page.getByLabel("Password").waitFor();
  for (const look of looks) {
    await wear(page, look);
    expect([look, await axeFindings(page)]).toEqual([look, []]);
    expect(await scrollsSideways(page)).toBe(false);
  }
});
