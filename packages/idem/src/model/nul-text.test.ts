import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeText, encodeText } from "./nul-text.ts";

// Mostly the characters that are escaped, and those an escape is made of, in every order.
const awkward = fc.string({ unit: fc.constantFrom("\u0000", "\uFFFF", "0", "1", "a", "\uFFFE", "😀"), maxLength: 12 });
const anyText = fc.oneof(awkward, fc.string({ unit: "grapheme", maxLength: 20 }));

test("every text comes back as it was", () => {
  fc.assert(fc.property(anyText, (text) => decodeText(encodeText(text)) === text));
});

test("what is written holds no U+0000, and two texts never become one", () => {
  fc.assert(
    fc.property(anyText, anyText, (a, b) => {
      expect(encodeText(a)).not.toContain("\u0000");
      expect(encodeText(a) === encodeText(b)).toBe(a === b);
    }),
  );
});

test("text without such characters is written as it is", () => {
  for (const text of ["", "order-7", '{"a":"ä😀"}']) expect(encodeText(text)).toBe(text);
});
