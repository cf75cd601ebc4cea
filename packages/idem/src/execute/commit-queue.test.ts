import { expect, test } from "vitest";
import { CommitQueue } from "./commit-queue.ts";
import type { Patch } from "./ports.ts";

const patch = (name: string): Patch => ({ steps: [{ name } as never], next: { kind: "continue", collect: false } });

test("who has its turn commits alone: what came before is done, what came after waits, and together", async () => {
  const sent: string[] = [];
  const queue = new CommitQueue(async ({ steps = [] }) => {
    await Promise.resolve();
    sent.push(steps.map(({ name }) => name).join("+"));
  });
  const add = (name: string) => new Promise<void>((done) => queue.add(patch(name), done));
  const before = add("a");
  void add("b");
  const turn = queue.turn();
  const next = queue.turn();
  const after = [add("c"), add("d")];
  await before;
  const leave = await turn;
  expect(sent).toEqual(["a", "b"]);
  sent.push("own");
  leave();
  (await next)();
  await Promise.all(after);
  await queue.idle();
  expect(sent).toEqual(["a", "b", "own", "c+d"]);
});
