// The log of a running server on the screen, a line at a time.
import type { Logger } from "../execute/function-code.ts";
import { IdemError } from "../model/errors.ts";
import type { Context } from "./command.ts";
import { printable, withoutSecrets } from "./printable.ts";
import { iso } from "./times.ts";

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
  return {
    debug: (...words) => {
      if (io.env("IDEM_DEBUG") === "1") write("debug", paint.dim, words);
    },
    info: (...words) => write("info ", paint.green, words),
    warn: (...words) => write("warn ", paint.yellow, words),
    error: (...words) => write("error", paint.red, words),
  };
}
