// The log of a running server on the screen, a line at a time.
import type { Logger } from "../execute/function-code.ts";
import { IdemError } from "../model/errors.ts";
import type { Context } from "./command.ts";
import { usage } from "./exit.ts";
import { printable, withoutSecrets } from "./printable.ts";
import { iso } from "./times.ts";

const levels = ["debug", "info", "warn", "error"] as const;
type Level = (typeof levels)[number];

// The SDK reads INNGEST_LOG_LEVEL too, and knows these names besides.
const otherNames: Readonly<Record<string, Level>> = { trace: "debug", fatal: "error", silent: "error" };

function levelOf({ options, flags, io }: Context): Level {
  if (flags.has("verbose") || io.env("IDEM_DEBUG") === "1") return "debug";
  const given = options["log-level"] ?? "info";
  const level = otherNames[given] ?? levels.find((each) => each === given);
  if (level !== undefined) return level;
  throw usage(`--log-level is "${printable(given)}"; it must be one of trace, ${levels.join(", ")}.`);
}

export function serverLog(context: Context): Logger {
  const { io, paint } = context;
  const write = (mark: string, show: (text: string) => string, words: readonly unknown[]) => {
    const texts = words.filter((word) => !(word instanceof Error)).map(String);
    const errors = words.filter((word) => word instanceof Error);
    // A stack is worth its lines only where the message alone does not say what to do.
    const reasons = errors.map((error) =>
      error instanceof IdemError ? error.message : (error.stack ?? error.message),
    );
    const [first = "", ...rest] = withoutSecrets([...texts, ...reasons].join(": ")).split("\n");
    const line = `${paint.dim(iso(context.now()))} ${show(mark)} ${printable(first.replace(/^idem: /, ""))}`;
    io.out.write(`${[line, ...rest.map((each) => `    ${printable(each)}`)].join("\n")}\n`);
  };
  const lowest = levels.indexOf(levelOf(context));
  const at =
    (level: Level, mark: string, show: (text: string) => string) =>
    (...words: unknown[]) => {
      if (levels.indexOf(level) >= lowest) write(mark, show, words);
    };
  return {
    debug: at("debug", "debug", paint.dim),
    info: at("info", "info ", paint.green),
    warn: at("warn", "warn ", paint.yellow),
    error: at("error", "error", paint.red),
  };
}
