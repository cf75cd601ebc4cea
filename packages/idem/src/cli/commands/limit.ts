// idem limit: how many runs of a function may be at work is raised or lowered for a while.
import { type LimitNow, limitsOf } from "../../engine/limit-function.ts";
import { errors } from "../../model/errors.ts";
import { type Command, type Context, serverOptions } from "../command.ts";
import { usage } from "../exit.ts";
import { printable } from "../printable.ts";
import { when } from "../times.ts";

export const limit: Command = {
  name: "limit",
  summary: "raise or lower how many runs of a function may be at work, for a while; it ends by itself",
  usage: "<function> [--concurrency <count> --for <duration> | --end] [--which <number>] [--reason <text>]",
  words: { min: 1, max: 1 },
  options: {
    concurrency: { value: "count", help: "how many may be at work at once" },
    for: { value: "duration", help: "how long it counts, from 1m to 7d" },
    end: { help: "its own limit counts again now" },
    which: { value: "number", help: "which of its limits, from 1; needed where it has two" },
    reason: { value: "text", help: "why; kept in the store's audit" },
    ...serverOptions,
  },
  details: [
    "Nobody at work is stopped; those in line come in as soon as there is room. It holds on every node. Said again, the newer word",
    "counts whole. Without options it shows what counts.",
  ],
  examples: [
    "idem limit draft-invoice",
    'idem limit draft-invoice --concurrency 20 --for 1h --reason "month end"',
    "idem limit draft-invoice --end",
  ],
  async run(context) {
    const name = context.words[0]!;
    const asked = askedOf(context);
    const { fn, limits } = await context.read(async (reading) => {
      const slug = reading.slugOf(name);
      const { functions } = await reading.reads.functions(context.env);
      const registered = functions.find((each) => each.fn === slug);
      if (registered === undefined) throw errors.FUNCTION_UNKNOWN({ function: name });
      return { fn: slug, limits: limitsOf(registered, context.now()) };
    });
    const now =
      asked === null
        ? limits
        : (await context.write((ask) => ask("limit", context.env, { function: fn, ...asked }))).limits;
    if (context.isJson) context.json({ function: fn, limits: now });
    else if (now.length === 0) context.say(`function ${printable(name)} has no limit on how many runs are at work`);
    else for (const each of now) context.say(`function ${printable(name)}: ${limitWords(each, context.now())}`);
    return 0;
  },
};

function askedOf({ options, flags }: Context) {
  const { concurrency, for: length, which, reason = "" } = options;
  const said = { reason, ...(which === undefined ? {} : { which: countOf(which, "which") }) };
  if (flags.has("end")) {
    if (concurrency !== undefined || length !== undefined) throw usage("Give --end, or --concurrency and --for.");
    return { ...said, concurrency: null };
  }
  if (concurrency === undefined && length === undefined) return null;
  if (concurrency === undefined || length === undefined) throw usage("Give both --concurrency and --for.");
  return { ...said, concurrency: countOf(concurrency, "concurrency"), for: length };
}

function countOf(text: string, option: string): number {
  if (!/^\d{1,6}$/.test(text)) throw usage(`--${option} takes a whole number, not "${text}".`);
  return Number(text);
}

function limitWords({ limit: at, own, key, scope, until }: LimitNow, now: number): string {
  const of = `${key === null ? "" : ` for each ${printable(key)}`}${scope === "fn" ? "" : ` (${scope})`}`;
  return `${at} at once${of}${until === null ? "" : `, instead of ${own}, until ${when(until, now)}`}`;
}
