// Whether a run goes on under the code it was under before; a change is written down beside its steps, once.
import {
  codeChangeId,
  codeChangeJson,
  codeFingerprint,
  isCodeChange,
  readCodeChange,
} from "../model/code-fingerprint.ts";
import { codeText } from "../model/code-text.ts";
import type { NewStep } from "../store/advance.ts";
import type { RunMemo } from "../store/leases.ts";
import type { Code } from "./function-code.ts";

// While nodes of two versions take turns each pass may be a change; what comes after these says nothing new.
const changesMax = 20;

const known = new WeakMap<Code, string>();

/** Of code elsewhere: what its app says of it, or what it registered. */
export function fingerprintOf(code: Code): string {
  const found = known.get(code);
  if (found !== undefined) return found;
  const { runtime: _, fingerprint: said, ...options } = code.config;
  const written = "handler" in code ? textOf(code.handler) : "";
  const backoff = "handler" in code && code.backoff !== null ? textOf(code.backoff) : "";
  const made = said ?? codeFingerprint([written, backoff, JSON.stringify(options)]);
  known.set(code, made);
  return made;
}

const textOf = (code: (...args: never[]) => unknown): string => codeText(Function.prototype.toString.call(code));

/** Null where it is the same code as before, or that is unknown. */
export function codeChange({ run, steps }: RunMemo, code: Code, now: number): NewStep | null {
  // As most runs are: begun under this code, with nothing to read.
  if (steps.length === 0 && (run.code === null || run.code === fingerprintOf(code))) return null;
  // Steps that a rerun brought along were under the code of the run before it.
  const changes = steps.slice(run.rerunFrom?.keptCount ?? 0).filter(isCodeChange);
  const last = changes.at(-1);
  const from = last === undefined ? run.code : readCodeChange(last.outcome.json).to;
  const to = fingerprintOf(code);
  if (from === null || from === to || changes.length >= changesMax) return null;
  const n = steps.filter(isCodeChange).length + 1;
  return {
    stepId: codeChangeId(n),
    name: "code changed",
    repeat: 0,
    kind: "code-changed",
    outcome: { kind: "value", json: codeChangeJson({ from, to }) },
    attempt: 1,
    startedAt: now,
    endedAt: now,
  };
}
