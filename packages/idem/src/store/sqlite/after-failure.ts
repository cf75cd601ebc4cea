// The index is named: without statistics the planner walks through the whole audit of an environment.
import { isAfterFailure as asked } from "../rows.ts";

/** For `runs r`, as the shared one. */
export const isAfterFailure = asked.replace("from audit a", "from audit a indexed by audit_by_subject");
