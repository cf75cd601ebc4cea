// What a person says about one event that waits for them.
import { z } from "zod";
import { reasonField } from "./reason.ts";

export const verdictBody = {
  function: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe("Which function's, by its full name; needed when the event waits for several"),
  reason: reasonField.optional().describe("Why; kept in the audit"),
};
