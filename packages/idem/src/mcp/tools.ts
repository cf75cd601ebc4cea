// Tools for agents and editors, in the words of the command line. They are carried out elsewhere: by a command of this
// machine (cli/commands/mcp.ts), by a route of a server (server/routes/api/speak-mcp.ts).
import { z } from "zod";
import { runStates } from "../model/run.ts";

// On the command line a word that begins with a dash is an option, and one with @ a file: neither is anybody's id.
const word = z
  .string()
  .min(1)
  .max(512)
  .regex(/^[^-@\s]/, "must not begin with -, @ or a space");
const limit = z.number().int().min(1).max(100).default(20).describe("How many at most");
const fn = word.describe("A function's id");
const runId = word.max(64).describe("A run's id");

export interface ToolAbout<I extends z.ZodType = z.ZodType> {
  readonly title: string;
  readonly description: string;
  readonly input: I;
  /** It changes something: refused unless it was allowed when this was set up. */
  readonly acts: boolean;
}

const looks = <I extends z.ZodType>(title: string, description: string, input: I): ToolAbout<I> => ({
  title,
  description,
  input,
  acts: false,
});
const acts = <I extends z.ZodType>(title: string, description: string, input: I): ToolAbout<I> => ({
  ...looks(title, description, input),
  acts: true,
});

export const tools = {
  functions: looks(
    "List functions",
    "Every function with its triggers, its key (or the reason why it has none), its limits, whether it is paused, and the last verdict of idem verify.",
    z.strictObject({}),
  ),
  runs: looks(
    "List runs",
    "Runs, newest first, by function and state.",
    z.strictObject({ function: fn.optional(), state: z.enum(runStates).optional(), limit }),
  ),
  run: looks(
    "Read a run",
    "One run: its state, input and output, and every step with its attempts, outcome and times.",
    z.strictObject({ run: runId }),
  ),
  events: looks(
    "List events",
    "Events, newest first; which of them were duplicates.",
    z.strictObject({ name: word.max(256).optional(), limit }),
  ),
  explain: looks(
    "Explain what happened",
    "Why something ran, did not run, or ran twice: the story of a run, an event, a key or a value in the data, with what to do.",
    z.strictObject({ about: word.describe("An id, a key, or a value in the data"), function: fn.optional() }),
  ),
  radar: looks(
    "List duplicates that were found",
    "Alerts of the duplicate radar: what ran twice, how often, and the line that would have prevented it.",
    z.strictObject({ limit }),
  ),
  doctor: looks(
    "Look after the store",
    "Whether everything is well: the store's health, work that is late, what ran twice in the last days, functions without a key.",
    z.strictObject({}),
  ),
  send: acts(
    "Send an event",
    "Sends one event and says what was decided for each function. With an id, a second send of the same id is a duplicate and starts nothing.",
    z.strictObject({
      name: word.max(256),
      data: z.record(z.string(), z.unknown()).default({}),
      id: word.max(256).optional().describe("What makes a second send of the same thing a duplicate"),
    }),
  ),
  rerun: acts(
    "Run again",
    "Starts a new run from an old one, past its id and key, with the same destination keys; from a step on, if one is named.",
    z.strictObject({ run: runId, from: word.optional().describe("Keep what was recorded before this step") }),
  ),
} as const;

export type ToolName = keyof typeof tools;
export type ToolInput<N extends ToolName> = z.output<(typeof tools)[N]["input"]>;

/** Only where the code is: it runs the user's functions, in worlds of their own. */
export const verifyTool = looks(
  "Verify that functions are safe to repeat",
  "Runs functions in worlds where deliveries come twice, processes die around every effect and answers get lost, and says what would be done twice, lost or half done, with the line and the change that mends it. Nothing leaves the worlds.",
  z.strictObject({
    module: word.describe("The file that defines the functions, such as src/functions.ts"),
    function: fn.optional(),
    budget: z
      .string()
      .regex(/^\d+(s|m)$/)
      .default("10s")
      .describe("How long a function may take"),
  }),
);
