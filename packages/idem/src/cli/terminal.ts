// A command's reach into the world around it: its streams, its surroundings and its clock. Tests give their own.
import { nodePlatform } from "../platform/node-platform.ts";
import type { Platform } from "../platform/platform.ts";

const isWindows = process.platform === "win32";

export interface Stream {
  write(text: string): void;
  readonly isTerminal: boolean;
  /** Characters per line; null when nobody looks at a screen. */
  readonly columns: number | null;
}

export interface Io {
  readonly out: Stream;
  readonly err: Stream;
  readInput(): Promise<string>;
  /** Lines of standard input as they come, until it ends. */
  lines(): AsyncIterable<string>;
  env(name: string): string | undefined;
  readonly cwd: string;
  readonly platform: Platform;
  /**
   * Calls back when the person presses Ctrl-C, or a supervisor asks the process to end (SIGTERM), instead of ending
   * it. Asked a second time it ends at once. Returns how to stop listening.
   */
  onInterrupt(take: () => void): () => void;
}

// An event may have half of this; more is a mistake in a pipe.
const inputBytesMax = 1024 * 1024;

const stream = (target: NodeJS.WriteStream): Stream => ({
  write: (text) => {
    target.write(text);
  },
  isTerminal: target.isTTY === true,
  columns: target.isTTY === true ? target.columns : null,
});

async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    bytes += (chunk as Buffer).length;
    if (bytes > inputBytesMax) throw new Error(`standard input is longer than ${inputBytesMax} bytes`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** One that is too long ends the input: nobody knows where the next one begins. */
async function* lines(): AsyncIterable<string> {
  let rest = Buffer.alloc(0);
  for await (const chunk of process.stdin) {
    rest = Buffer.concat([rest, chunk as Buffer]);
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      const line = rest.subarray(0, end).toString("utf8").trim();
      rest = rest.subarray(end + 1);
      if (line !== "") yield line;
    }
    if (rest.length > inputBytesMax) throw new Error(`a line of standard input is longer than ${inputBytesMax} bytes`);
  }
}

/** The real one. */
export function terminal(): Io {
  // `idem runs | head` closes the pipe early; that is no failure.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
  });
  return {
    out: stream(process.stdout),
    err: stream(process.stderr),
    readInput,
    lines,
    env: (name) => process.env[name],
    cwd: process.cwd(),
    platform: nodePlatform,
    onInterrupt: (take) => {
      // Windows ends a console's programs by Ctrl-Break or by closing it, and knows no SIGTERM. Elsewhere a closed terminal is what nohup is for.
      const signals = isWindows ? (["SIGINT", "SIGBREAK", "SIGHUP"] as const) : (["SIGINT", "SIGTERM"] as const);
      for (const signal of signals) process.once(signal, take);
      return () => {
        for (const signal of signals) process.off(signal, take);
      };
    },
  };
}
