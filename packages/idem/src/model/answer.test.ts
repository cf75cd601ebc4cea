import { expect, test } from "vitest";
import { Answer } from "./answer.ts";

const heardBy = (heard: unknown[]) => ({
  answered: (value: number) => void heard.push(value),
  failed: (error: unknown) => void heard.push(error),
});

test("whoever is to be told is called at once, with the value or the error", () => {
  const heard: unknown[] = [];
  const [first, second] = [new Answer<number>(), new Answer<number>()];
  first.tell(heardBy(heard));
  second.tell(heardBy(heard));
  first.resolve(1);
  second.reject("no");
  expect(heard).toEqual([1, "no"]);
});

test("it is awaited like a promise, whether it came before or comes after", async () => {
  const [early, late, failed] = [new Answer<number>(), new Answer<number>(), new Answer<number>()];
  early.resolve(1);
  const both = Promise.all([early, late, late.then((n) => n + 1), failed.catch((error) => error)]);
  late.resolve(2);
  failed.reject("no");
  expect(await both).toEqual([1, 2, 3, "no"]);
  expect(await late.finally(() => {})).toBe(2);
  expect(await late).toBe(2);
});

test("who comes after it was answered is told", async () => {
  const heard: unknown[] = [];
  const answer = new Answer<number>();
  answer.resolve(1);
  answer.tell(heardBy(heard));
  await answer;
  expect(heard).toEqual([1]);
});
