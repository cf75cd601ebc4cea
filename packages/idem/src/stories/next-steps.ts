// At most three things to do, the most pressing first: what can still be stopped, what keeps it from happening again, a second guard.
import { isEnded, type RunState } from "../model/run.ts";
import type { Case } from "./gather-case.ts";
import { isRemote } from "./judge-gates.ts";
import type { StoryGate, StoryTodo } from "./story.ts";
import { limitsThatHold } from "./tell-ahead.ts";

const todosMax = 3;

const isWithoutSuccess = (state: RunState | undefined): boolean => state === "failed" || state === "cancelled";

/** Two events have two ids and two runs, so only a value that both events share makes a key that the receiver knows again. */
function ownKeyLine({ guess, function: fn }: Case): string {
  const expression = guess?.expression ?? fn?.config?.idempotency?.key ?? "";
  const value = /^event\.data(\.[A-Za-z_]\w*)+$/.test(expression) ? expression : "event.id";
  return `step.run(id, () => send({ idempotencyKey: \`\${${value}}:\${id}\` }))`;
}

export function nextSteps(told: Case, gates: readonly StoryGate[]): StoryTodo[] {
  const { function: fn, runs, guess, asked, decisions } = told;
  const todos: StoryTodo[] = [];
  const slipped = runs.filter(({ kind }) => kind === "slipped");
  const open = slipped.findLast(({ run }) => !isEnded(run.state));
  if (open !== undefined) {
    todos.push({
      text: `Cancel run ${open.number} before it does more.`,
      does: "cancel-run",
      label: `Cancel run ${open.number}`,
      id: open.run.id,
      other: null,
    });
  }
  const first = runs.find(({ kind }) => kind === "first");
  if (slipped.length > 0 && open === undefined && first !== undefined) {
    todos.push({
      text: "See what the runs did differently.",
      does: "compare",
      label: "Compare the two",
      id: first.run.id,
      other: slipped[0]!.run.id,
    });
  }
  if (slipped.length > 0 && fn !== null && fn.config?.idempotency == null) {
    const line = guess === null ? null : `idempotency: ${JSON.stringify(guess.expression)},`;
    todos.push({
      text: "Give the function a key, so that it cannot happen again.",
      does: "add-key",
      label: "See the line to paste",
      id: fn.fn,
      other: line,
    });
  }
  if (slipped.length > 0 && told.key !== null) {
    todos.push({
      text: "See who held the key, and why it was given back.",
      does: "open-key",
      label: "Open the key",
      id: told.key,
      other: fn?.fn ?? null,
    });
  }
  if (slipped.length > 0 && gates.find(({ gate }) => gate === "destination-key")?.state !== "stopped") {
    todos.push({
      text: isRemote(fn)
        ? "Send others a key of your own from the step, as a second guard."
        : "Send others the step's key, as a second guard.",
      does: "send-key",
      label: "Show how",
      id: fn?.fn ?? "",
      other: isRemote(fn) ? ownKeyLine(told) : null,
    });
  }
  const last = runs.at(-1);
  if (slipped.length === 0 && last?.run.state === "failed") {
    todos.push({
      text: "Look at the error; rerun it once its cause is gone.",
      does: "open-run",
      label: `Open run ${last.number}`,
      id: last.run.id,
      other: null,
    });
  }
  const isKept = fn?.config?.idempotency?.afterFailure === "keep";
  const isRefused = runs.some(({ spared }) => spared.some(({ kind }) => kind === "duplicate-key"));
  if (slipped.length === 0 && told.key !== null && isKept && isRefused && isWithoutSuccess(last?.run.state)) {
    todos.push({
      text: "Or release its key: the next event then starts a new run.",
      does: "open-key",
      label: "Open the key",
      id: told.key,
      other: fn?.fn ?? null,
    });
  }
  if (asked !== null && runs.length === 0) {
    const waiting = decisions.find(({ kind }) => kind === "held" || kind === "paused");
    if (waiting !== undefined)
      todos.push({
        text: "Release the event, or drop it.",
        does: "open-event",
        label: "Open the event",
        id: asked.id,
        other: null,
      });
    if (waiting?.kind === "paused")
      todos.push({
        text: "Let the function start runs again.",
        does: "open-function",
        label: "Open the function",
        id: waiting.fn,
        other: null,
      });
  }
  if (
    last?.run.state === "queued" &&
    last.run.startedAt === null &&
    fn !== null &&
    limitsThatHold(last.line).length === 0
  ) {
    todos.push({
      text: "See whether a worker has this function.",
      does: "open-function",
      label: "Open the function",
      id: fn.fn,
      other: null,
    });
  }
  return todos.slice(0, todosMax);
}
