import { expect, test } from "vitest";
import { CommitQueue } from "./commit-queue.ts";
import type { Patch } from "./ports.ts";

const patch = (name: string): Patch => ({ steps: [{ name } as never], next: { kind: "continue", collect: false } });

test("who has its turn commits alone: what came before is done, what came after waits, and together", async () => {
  const sent: string[] = [];
  let told = 0;
  const queue = new CommitQueue({
    commitTogether: ({ steps = [] }) =>
      queueMicrotask(() => {
        sent.push(steps.map(({ name }) => name).join("+"));
        queue.answered();
      }),
    isCommitted: () => void told++,
  });
  const add = (name: string) => new Promise<void>((committed) => queue.add(patch(name), { committed }));
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
  expect(sent).toEqual(["a", "b", "own", "c+d"]);
  expect(told).toBe(4);
});
