import { expect, test } from "vitest";
import { routeWorld } from "../world.suite.ts";
import { listAudit } from "./list-audit.ts";
import { listViews, putView, removeView } from "./views.ts";

test("a view is there for everyone under its name, the last one saved under it, and the audit says who kept and removed it", async () => {
  const { ask } = await routeWorld();
  const put = (view: string, query: string, page = "runs") => ask(putView, { params: { view }, body: { page, query } });
  const listed = async () => (await ask(listViews)).body.views;
  await put(" Slow ones ", "group=none&order=longest");
  await put("Unheard", "outcome=unheard", "events");
  await put("Slow ones", "group=none&order=longest&since=1h");
  expect(await listed()).toEqual([
    { name: "Slow ones", page: "runs", query: "group=none&order=longest&since=1h" },
    { name: "Unheard", page: "events", query: "outcome=unheard" },
  ]);
  await ask(removeView, { params: { view: "Slow ones" } });
  await ask(removeView, { params: { view: "Slow ones" } });
  expect((await listed()).map(({ name }: any) => name)).toEqual(["Unheard"]);
  const { entries } = (await ask(listAudit)).body;
  expect(entries.map(({ subject, reason }: any) => `${subject} ${reason}`)).toEqual([
    "view:Slow ones removed",
    "view:Slow ones saved: runs?group=none&order=longest&since=1h",
    "view:Unheard saved: events?outcome=unheard",
    "view:Slow ones saved: runs?group=none&order=longest",
  ]);
});

test("names that cannot be read, addresses of any length and views without end are refused", async () => {
  const { ask } = await routeWorld();
  const put = (view: string, query = "") => ask(putView, { params: { view }, body: { page: "runs", query } });
  const refused = { code: "REQUEST_INVALID" };
  for (const name of [" ", "x".repeat(61), "a\u202eb", "a\nb"]) await expect(put(name)).rejects.toMatchObject(refused);
  await expect(put("long", "q=".padEnd(2_001, "x"))).rejects.toMatchObject(refused);
  for (let i = 0; i < 100; i++) await put(`view ${i}`);
  await expect(put("one more")).rejects.toMatchObject(refused);
  expect((await put("view 7", "state=failed")).status).toBe(200);
});
