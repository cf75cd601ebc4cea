// Colour, on a screen whose user did not ask for none (no-color.org).
import type { Io, Stream } from "./terminal.ts";

export interface Paint {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
}

export function paintFor(io: Pick<Io, "env">, stream: Stream): Paint {
  const noColor = io.env("NO_COLOR");
  const isColoured = stream.isTerminal && (noColor === undefined || noColor === "") && io.env("TERM") !== "dumb";
  const code = (open: number, close: number) => (text: string) =>
    isColoured ? `\x1b[${open}m${text}\x1b[${close}m` : text;
  return { bold: code(1, 22), dim: code(2, 22), red: code(31, 39), green: code(32, 39), yellow: code(33, 39) };
}

export function paintState(paint: Paint, state: string): (text: string) => string {
  if (state === "completed" || state === "started") return paint.green;
  if (state === "failed" || state === "cancelled") return paint.red;
  return state === "running" || state.startsWith("duplicate") ? paint.yellow : (text) => text;
}
