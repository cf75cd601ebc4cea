import { expect, test } from "vitest";
import { endingPlatform } from "./ending-platform.ts";
import { nodePlatform } from "./node-platform.ts";

test("what is over leaves no timer behind, and sets none", async () => {
  const { platform, end } = endingPlatform(nodePlatform);
  const rung: string[] = [];
  await new Promise<void>((resolve) => {
    platform.timer(0, () => {
      rung.push("first");
      resolve();
    });
  });
  const before = process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  platform.timer(60_000, () => rung.push("left"));
  platform.timer(60_000, () => rung.push("cancelled")).cancel();
  end();
  platform.timer(60_000, () => rung.push("late"));
  expect(process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length).toBe(before);
  expect(rung).toEqual(["first"]);
  expect(platform.wallMs()).toBeGreaterThan(0);
});
