// Options whose values are numbers or lengths of time.
import { parseDuration } from "../model/duration.ts";
import type { Context } from "./command.ts";
import { usage } from "./exit.ts";

export function countOption(context: Context, name: string, otherwise: number, max: number): number {
  const text = context.options[name];
  if (text === undefined) return otherwise;
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || count > max) {
    throw usage(`--${name} is "${text}"; it must be a whole number from 1 to ${max}.`);
  }
  return count;
}

export function durationOption(context: Context, name: string, otherwise: number): number {
  const text = context.options[name];
  return text === undefined ? otherwise : parseDuration(text, `--${name}`);
}
