import { expect, test } from "vitest";
import type { GroupedRun } from "./groups-data.ts";
import { previewTitle, previewWords } from "./preview-words.ts";

const shown = (
  preview: string | null,
  state: GroupedRun["state"] = "completed",
  previewStep: string | null = null,
) => ({
  preview,
  previewStep,
  state,
  attempt: null,
});

test("an output is shown as a person would say it, cut or not", () => {
  const said = (...run: Parameters<typeof shown>) => previewWords(shown(...run));
  expect(said('{"invoice":"in_1RPq8xA7"}')).toBe("in_1RPq8xA7");
  expect(said('{"id":"in_1RPq8xA7","customer":"cus_Nf4tV1","status":"dr')).toBe("in_1RPq8xA7");
  expect(said('{"id":7,"total":4')).toBe("7");
  expect(said('{"rows":412}')).toBe("412");
  expect(said('"done"')).toBe("done");
  expect(said("9007199254740993")).toBe("9007199254740993");
  expect(said('{"a":1,"b":2}')).toBe('{"a":1,"b":2}');
  expect(said('{"a":"b')).toBe('{"a":"b');
  expect(said("null")).toBe("");
  expect(said('{"name":"Error","message":"mailbox refused","stack":"Err', "failed")).toBe("mailbox refused");
});

test("what an open run has made is said to be a step's, not the run's output", () => {
  expect(previewTitle(shown('{"id":"in_1"}', "waiting", "draft"))).toBe("So far, by step draft: in_1");
  expect(previewTitle(shown('{"id":"in_1"}'))).toBe("in_1");
  expect(previewTitle(shown(null, "waiting"))).toBe("");
});
