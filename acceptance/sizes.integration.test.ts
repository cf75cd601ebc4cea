// Values at the limits: what is too large is refused where it is, and what is large goes another way (docs/reference/wire.md#a-call).
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { HostedApp } from "./app/messages.ts";
import { checkpointing } from "./traces.suite.ts";
import { World } from "./world.ts";

const reporting: HostedApp = { id: "reporting", adapter: "node", functions: ["sizes"] };
const asking: HostedApp = { id: "asking", adapter: "node", functions: ["sizes"], ...checkpointing.off };

let world: World;
beforeAll(async () => {
  world = await World.open({ mode: "start", apps: [reporting, asking] });
});
afterAll(() => world?.close());

describe.concurrent.each([reporting, asking])("an app that is $id its steps", ({ id }) => {
  test("a memo of more than 4 MiB is fetched by the app, and every step still runs once", async () => {
    const runId = await world.rest.start(`${id}/large-memo`);
    expect(await world.rest.end(runId)).toMatchObject({ status: "Completed", output: [6 * 1024 * 1024, "end"] });
    expect(world.entered(runId)).toEqual(["one", "two", "three", "four", "five", "six", "end"]);
    expect(world.traces.of(runId).filter((line) => line.includes("(fetched)")).length).toBeGreaterThan(0);
  });

  test("a step whose value is too large fails with the reason, and the code may go on", async () => {
    const runId = await world.rest.start(`${id}/large-step`);
    const { status, output } = await world.rest.end(runId);
    expect(status).toBe("Completed");
    expect(output).toMatch(/4194304|4 MiB/);
    expect(world.entered(runId)).toEqual(["large", "after"]);
  });

  test("an answer of more than 8 MiB fails its run with the reason", async () => {
    const runId = await world.rest.start(`${id}/large-output`);
    const { status, output } = await world.rest.end(runId);
    expect(status).toBe("Failed");
    expect(output.message).toMatch(/8388608|8 MiB/);
  });
});
