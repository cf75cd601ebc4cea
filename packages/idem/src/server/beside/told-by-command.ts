// The output of a command that was started beside the store, as routes answer it.
import { z } from "zod";
import { errors } from "../../model/errors.ts";
import type { OwnCommandEnd } from "../../platform/own-command.ts";

/** The caller's own: under the same one nothing is started twice. */
export const ownId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{8,64}$/, "8 to 64 letters, digits, dashes or underscores")
  .describe("Yours: the same request again is answered with what is under way, or came of it");

export const underWay = z.object({ state: z.literal("running").describe("Ask again, with the same id") });

// As much as a person reads of it.
const errCharsShown = 500;

/** Its one JSON document. Whatever else it ended with is its reason. */
export function readJsonOf({ out, err }: OwnCommandEnd, command: string): unknown {
  try {
    return JSON.parse(out);
  } catch {
    const said = err
      .replace(/^idem: /, "")
      .trim()
      .slice(-errCharsShown);
    throw errors.COMMAND_FAILED({ command, why: said === "" ? "it was ended" : said });
  }
}
