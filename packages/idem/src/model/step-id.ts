// A step's id on the wire and in the memo: Inngest's, so that a run can be read by either side.

import { createHash } from "node:crypto";

/** The first use of an id hashes the id alone, its n-th repeat in the same run hashes `id:n`. */
export function hashStepId(userId: string, repeatIndex: number): string {
  return createHash("sha1")
    .update(repeatIndex === 0 ? userId : `${userId}:${repeatIndex}`)
    .digest("hex");
}
