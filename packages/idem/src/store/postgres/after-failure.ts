// The index holds the beginnings of subjects, so those are asked for beside the whole.
import { isAfterFailure as asked } from "../rows.ts";

/** For `runs r`, as the shared one. */
export const isAfterFailure = asked.replace(
  "a.subject = 'fn:' || r.fn || ' ' || r.key",
  (whole) => `left(a.subject, 100) = left('fn:' || r.fn || ' ' || r.key, 100) and ${whole}`,
);
