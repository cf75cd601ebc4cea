import { expect, test } from "vitest";
import { pinned } from "./pin-time.ts";

test("a length of time becomes the instant it began at, and an instant stays what it is", () => {
  const now = Date.parse("2026-05-15T14:46:12.104Z");
  expect(pinned("1h", now)).toBe("2026-05-15T13:46:12.104Z");
  expect(pinned("7d", now)).toBe("2026-05-08T14:46:12.104Z");
  expect(pinned("2026-05-01T00:00:00Z", now)).toBe("2026-05-01T00:00:00.000Z");
  expect(pinned("1778855172104", now)).toBe("2026-05-15T14:26:12.104Z");
  expect(pinned("whenever", now)).toBe("whenever");
});
