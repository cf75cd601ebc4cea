// A terminal for tests: what was written is kept, the machine is a manual one, and Ctrl-C is a call.
import { ManualPlatform } from "../platform/manual-platform.ts";
import type { Platform } from "../platform/platform.ts";
import { main } from "./main.ts";
import type { Io } from "./terminal.ts";

export interface FakeTerminal extends Io {
  /** The output of the last command. */
  readonly written: { out: string; err: string };
  run(...args: string[]): Promise<number>;
  /** Runs a command that must succeed, and reads its JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read what a command printed
  json(...args: string[]): Promise<any>;
  interrupt(): void;
}

export function fakeTerminal(options: {
  readonly cwd: string;
  readonly platform?: Platform;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly columns?: number;
}): FakeTerminal {
  const written = { out: "", err: "" };
  const columns = options.columns ?? null;
  let interrupt = () => {};
  const keep = (stream: keyof typeof written) => (text: string) => {
    written[stream] += text;
  };
  const io: FakeTerminal = {
    cwd: options.cwd,
    platform: options.platform ?? new ManualPlatform(),
    out: { write: keep("out"), isTerminal: columns !== null, columns },
    err: { write: keep("err"), isTerminal: false, columns: null },
    env: (name) => options.env?.[name],
    readInput: async () => options.input ?? "",
    lines: async function* () {
      yield* (options.input ?? "").split("\n").filter((line) => line !== "");
    },
    onInterrupt: (take) => {
      interrupt = take;
      return () => {
        interrupt = () => {};
      };
    },
    written,
    interrupt: () => interrupt(),
    run: (...args) => {
      written.out = "";
      written.err = "";
      return main(args, io);
    },
    json: async (...args) => {
      const code = await io.run(...args, "--json");
      if (code !== 0) throw new Error(`idem ${args.join(" ")} exited with ${code}: ${written.err}`);
      return JSON.parse(written.out);
    },
  };
  return io;
}
