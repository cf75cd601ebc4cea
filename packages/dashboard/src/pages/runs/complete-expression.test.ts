import { expect, test } from "vitest";
import { completions, examples } from "./complete-expression.ts";

const paths = ["event.data.orderId", "event.data.order.total", "event.data.email", "output.invoice"];

test("examples stand where nothing is typed, and the path that is being typed is completed in its place", () => {
  expect(completions("", paths)).toBe(examples);
  expect(completions("event.data.ord", paths)).toEqual(["event.data.orderId", "event.data.order.total"]);
  expect(completions("event.data.email != null && out", paths)).toEqual([]);
  expect(completions("event.data.email != null && output.", paths)).toEqual([
    "event.data.email != null && output.invoice",
  ]);
  expect(completions("has(event.data.e", paths)).toEqual(["has(event.data.email"]);
});

test("a word that begins a field's name leads to the field; what is finished is left alone", () => {
  expect(completions("ord", paths)).toEqual(["event.data.orderId"]);
  expect(completions("event.data.email", paths)).toEqual([]);
  expect(completions("event.data.orderId == 7", paths)).toEqual([]);
  expect(completions("two words", paths)).toEqual([]);
});
