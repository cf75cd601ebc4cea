import { expect, test } from "vitest";
import { LoneCalls } from "./hot-calls.ts";

test("of calls that go alone so many wait, by name, and those beyond are refused at once", async () => {
  const lone = new LoneCalls(2);
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const call = (name: string) => lone.call(name, () => released);
  const waiting = [call("claim"), call("claim")];
  await expect(call("claim")).rejects.toMatchObject({ code: "STORE_BUSY", facts: { queued: 2 } });
  const other = call("signal");
  release();
  await Promise.all([...waiting, other]);
  await call("claim");
});

test("a call that failed gives its place back", async () => {
  const lone = new LoneCalls(1);
  const fails = () => lone.call("claim", () => Promise.reject(new Error("no")));
  await expect(fails()).rejects.toThrow("no");
  await expect(fails()).rejects.toThrow("no");
});
