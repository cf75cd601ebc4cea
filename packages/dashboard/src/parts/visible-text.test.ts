import { describe, expect, test } from "vitest";
import { visibleText } from "./visible-text.ts";

describe("text of strangers", () => {
  test("joined emoji are one picture, as they were written", () => {
    for (const each of ["👩‍👩‍👧", "🏳️‍🌈", "👩🏽‍🚀", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "❤️‍🔥 and ✅"]) expect(visibleText(each)).toBe(each);
  });

  test("what cannot be seen is shown by its code, also beside a picture", () => {
    expect(visibleText("a\u200Db")).toBe("a‹U+200D›b");
    expect(visibleText("👩\u200D")).toBe("👩‹U+200D›");
    expect(visibleText("👩\u200D\u200D👧")).toBe("👩‹U+200D›‹U+200D›👧");
    expect(visibleText("\u202Etxt.exe\u0007")).toBe("‹U+202E›txt.exe␇");
    // Tags spell text that nobody sees, unless they are a flag's.
    expect(visibleText("🏴\u{E0068}\u{E0069}\u{E007F}")).toBe("🏴‹U+E0068›‹U+E0069›‹U+E007F›");
  });
});
