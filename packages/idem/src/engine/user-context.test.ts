import { AsyncLocalStorage } from "node:async_hooks";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Idem } from "../sdk/client.ts";

// The store answers from a thread of its own: what begins by its answer must not lose what the code around it set.
test("bodies of steps are entered in the async context of the code that asked for them, also those that stood in line or are tried again", async () => {
  const folder = mkdtempSync(join(tmpdir(), "idem-context-"));
  const idem = new Idem<any>({ id: "shop", store: `sqlite:${folder}/shop.db`, logger: false });
  onTestFinished(async () => {
    await idem.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const mine = new AsyncLocalStorage<string>();
  const seen: string[] = [];
  const note = (step: string) => void seen.push(`${step} ${mine.getStore()}`);
  const tried: string[] = [];
  idem.createFunction({ id: "line", concurrency: 1, backoff: () => 10 }, { event: "go" }, async ({ event, step }) =>
    mine.run(event.data.name, () =>
      Promise.all(
        ["a", "b", "c"].map((name) =>
          step.run(name, async () => {
            note(name);
            if (name !== "a" || tried.push(name) > 1) return;
            throw new Error("once more");
          }),
        ),
      ),
    ),
  );
  await idem.start();
  const { decisions } = await idem.send({ name: "go", data: { name: "mine" } });
  expect((await idem.runs.wait(decisions[0]!.runId!)).state).toBe("completed");
  expect(seen.sort()).toEqual(["a mine", "a mine", "b mine", "c mine"]);
});
