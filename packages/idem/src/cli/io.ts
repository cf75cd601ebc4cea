// What a command may touch of the world around it: its streams, its surroundings and its clock. Tests give their own.
import type { Platform } from "../platform/platform.ts";

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
  env(name: string): string | undefined;
  readonly cwd: string;
  readonly platform: Platform;
  /**
   * Calls back when the person presses Ctrl-C, or whoever looks after the process asks it to end (SIGTERM), instead of ending
   * it. Asked a second time it ends at once. Returns how to stop listening.
   */
  onInterrupt(take: () => void): () => void;
}
