// One sentence with "because": why it ran, or did not, or ran twice.

import { type Decision, isPending } from "../model/decision.ts";
import { tickOf } from "../model/tick.ts";
import { readError } from "../model/user-errors.ts";
import { entityOf } from "../radar/fields.ts";
import { decisionWords, sparedBy } from "./decision-words.ts";
import type { Case, CaseRun } from "./gather-case.ts";
import type { Story } from "./story.ts";
import { capital, lengthOf, plainOf, shortId, some, timesWord } from "./story-words.ts";
import { limitsThatHold } from "./tell-ahead.ts";

export type Verdict = Pick<Story, "tone" | "times" | "title" | "detail">;

/** "placement 48213", "key ord-7", "event evt_b81c" */
export function nounOf({ guess, key, function: fn, asked, runs }: Case): string {
  const expression = guess?.expression ?? (key === null ? null : (fn?.config?.idempotency?.key ?? null));
  const value = guess?.entity ?? key;
  if (value !== null && value !== undefined) {
    const entity = expression === null ? "" : entityOf(expression);
    return `${entity === "" ? "key" : entity} ${shortId(plainOf(value))}`;
  }
  if (asked !== null) return `event ${shortId(asked.callerId ?? asked.id)}`;
  return `run ${runs[0]?.run.id ?? ""}`;
}

export function reachVerdict(told: Case): Verdict {
  const asked = told.runs.filter(({ kind }) => kind !== "rerun");
  const noun = capital(nounOf(told));
  if (asked.some(({ kind }) => kind === "slipped")) return doubled(told, asked, noun);
  if (told.asked?.firstEventId != null) return known(told, noun);
  if (told.runs.length === 0) return notStarted(told, noun);
  const own = told.decisions.find(({ fn }) => told.asked !== null && fn === told.function?.fn);
  // A thing with no name but its event's is judged by what became of that event.
  if (own !== undefined && own.kind !== "started" && told.guess === null && told.key === null) {
    return answered(told, own);
  }
  const [first] = told.runs;
  const times = asked.length;
  // An event that came again under a known id is among the duplicates, and a decision of its own.
  const others = told.runs.flatMap((each) => each.spared.filter(({ kind }) => kind !== "duplicate-event"));
  const spared = others.length + told.duplicates.length;
  const reruns = told.runs.length - asked.length;
  const rerunWords = reruns === 0 ? "" : ` A person reran it ${timesWord(reruns)}.`;
  const last = told.runs.at(-1)!;
  if (last.run.state === "failed") {
    const why =
      last.run.result === null ? "it gave no reason" : readError(last.run.result).message.split("\n")[0]!.slice(0, 160);
    return {
      tone: "failed",
      times,
      title: `${noun} ran and failed because ${lower(why)}`,
      detail: `${stepOf(last)} ${askedWords(spared)}${rerunWords}`.trim(),
    };
  }
  if (times > 1 && asked.every(({ kind }) => kind === "first")) {
    return {
      tone: "once",
      times,
      title: `${noun} ran ${timesWord(times)} because what did not complete gave its key back`,
      detail: `The function is configured so: afterFailure is "release". ${askedWords(spared)}${rerunWords}`.trim(),
    };
  }
  if (times > 1) {
    return {
      tone: "once",
      times,
      title: `${noun} ran ${timesWord(times)} because ${some(times, "event")} asked for it`,
      detail: `We take them together by our best guess; they may be about different things.${rerunWords}`,
    };
  }
  if (spared > 0) {
    const kinds = new Set(others.map(({ kind }) => kind));
    const isId = told.duplicates.length > 0 && !kinds.has("duplicate-key");
    const by = isId ? "its id was known" : (sparedBy(kinds)?.because ?? "it was taken together with others");
    const isLeftOut = [...kinds].some((kind) => decisionWords[kind].spared?.isLeftOut);
    return {
      tone: "suppressed",
      times: 1,
      title: `${noun} ran once because ${by}: ${some(spared, isLeftOut ? "other" : "duplicate")} ${spared === 1 ? "was" : "were"} ${isLeftOut ? "left out" : "stopped"}`,
      detail: `Whoever else asked was answered with run ${first!.number}.${rerunWords}`,
    };
  }
  if (last.run.state === "parked") return parked(told, last, noun);
  if (last.run.state === "queued" || last.run.state === "waiting" || last.run.state === "running")
    return open(told, last, noun);
  if (last.run.state === "cancelled") {
    const why =
      last.run.result === null
        ? "a person asked for it"
        : readError(last.run.result).message.split("\n")[0]!.slice(0, 160);
    return {
      tone: "once",
      times,
      title: `${noun} was cancelled because ${/^cancelled by /.test(why) ? `of ${why.slice("cancelled by ".length)}` : lower(why)}`,
      detail: `Steps that had finished stay finished.${rerunWords}`,
    };
  }
  return {
    tone: "once",
    times: 1,
    title: `${noun} ran once because ${first!.event !== null && tickOf(first!.event) !== null ? "its schedule ticked" : "one event asked for it"}`,
    detail: `Nothing asked again.${rerunWords}`,
  };
}

const lower = (text: string): string =>
  (/^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text).replace(/\.$/, "");
const askedWords = (spared: number): string =>
  spared === 0 ? "" : `${capital(some(spared, "duplicate"))} ${spared === 1 ? "was" : "were"} answered with it.`;

function stepOf({ timeline }: CaseRun): string {
  const failed = timeline.findLast(({ state }) => state === "failed");
  if (failed === undefined) return "";
  const tries = failed.attempts.length;
  return `${failed.name === "" ? "Its code" : `Step ${failed.name}`} was tried ${timesWord(tries)}.`;
}

function doubled({ function: fn, guess, key, source }: Case, asked: readonly CaseRun[], noun: string): Verdict {
  const times = asked.length;
  const config = fn?.config?.idempotency ?? null;
  const apart = lengthOf(asked.at(-1)!.run.createdAt - asked[0]!.run.createdAt);
  const events = some(new Set(asked.map(({ run }) => run.eventId)).size, "event");
  const isMissing = config !== null && key === null;
  const why =
    key !== null
      ? "its key was given back inside its window"
      : isMissing
        ? "its key was missing in the events"
        : `nothing marked its ${events} as the same`;
  const entity = guess === null ? "" : entityOf(guess.expression);
  const sent = source === null ? `${capital(events)} came` : `${capital(source.name)} sent ${events}`;
  const ids = asked.every(({ event }) => event?.callerId == null) ? "They carried no id" : "They had different ids";
  const ends = `so each started its own run, ${apart} apart.`;
  const detail =
    key !== null
      ? `A run that failed, was cancelled or whose key a person released gave it back; the next event took it, ${apart} later.`
      : `${sent}${entity === "" ? "" : ` for one ${entity}`}. ${ids}, and ${isMissing ? `the key ${config.key} was missing` : "the function has no key"}, ${ends}`;
  return { tone: "doubled", times, title: `${noun} ran ${timesWord(times)} because ${why}`, detail };
}

function known({ asked, runs }: Case, noun: string): Verdict {
  const id = shortId(asked!.callerId ?? asked!.id);
  const detail =
    runs.length === 0 ? "The event that was first started nothing." : `Run ${runs[0]!.number} answers for it.`;
  return {
    tone: "suppressed",
    times: runs.length,
    title: `${noun === "" ? "It" : `Event ${id}`} started nothing because its id was taken`,
    detail,
  };
}

function answered({ asked, runs }: Case, decision: Decision): Verdict {
  return {
    tone: "suppressed",
    times: 0,
    title: `Event ${shortId(asked!.callerId ?? asked!.id)} started nothing because ${whyNot(decision)}`,
    detail: `Run ${runs[0]!.number} answers for it.`,
  };
}

function notStarted({ asked, decisions, key, function: fn, nameOf }: Case, noun: string): Verdict {
  if (asked === null) {
    return {
      tone: "nothing",
      times: 0,
      title: `${noun} is free because nobody has it, or its window ended`,
      detail: `The next event with this key starts a run${fn === null ? "" : ` of ${fn.name}`}.`,
    };
  }
  const decision = decisions.find((each) => each.fn === fn?.fn) ?? decisions[0];
  const id = `Event ${shortId(asked.callerId ?? asked.id)}`;
  const meanwhile = decision === undefined ? undefined : decisionWords[decision.kind].meanwhile;
  if (decision !== undefined && meanwhile !== undefined && isPending(decision)) {
    const name = nameOf(decision.fn);
    return {
      tone: "waiting",
      times: 0,
      title: `${id} has not started anything yet because ${name} ${meanwhile}`,
      detail: "It goes on by itself.",
    };
  }
  const why = decision === undefined ? "no function has a trigger for its name" : whyNot(decision);
  const waits = decision?.kind === "paused" || decision?.kind === "held";
  return {
    tone: waits ? "waiting" : "nothing",
    times: 0,
    title: `${key === null ? id : noun} started nothing because ${why}`,
    detail: waits ? "It is kept until a person releases or drops it." : "Nothing was sent to anybody.",
  };
}

/** Of a decision that started nothing, or answers with another's run. */
function whyNot({ kind, reason }: Decision): string {
  return decisionWords[kind].whyNot ?? (reason === null ? `it was ${kind}` : lower(reason));
}

function parked({ runs }: Case, { run }: CaseRun, noun: string): Verdict {
  const why = run.parked === null ? "nobody said why" : run.parked.reason;
  return {
    tone: "failed",
    times: runs.length,
    title: `${noun} is parked because ${lower(why)}`,
    detail: `It does not go on by itself: a person lets it (idem release ${run.id}), cancels it or reruns it.`,
  };
}

/** Words about a run whose workers were lost since it last got on. */
const lostWords = ({ lost }: CaseRun["run"]): string =>
  lost === null
    ? ""
    : ` Its code was entered ${timesWord(lost.count)} without an outcome: each time its process was lost. Unless something comes of it, it is soon left to a person.`;

function open({ function: fn, runs }: Case, last: CaseRun, noun: string): Verdict {
  const { run, timeline } = last;
  const wait = timeline.findLast(({ state }) => state === "waiting" || state === "retrying");
  const where = wait === undefined ? "" : wait.name === "" ? "its code" : `step ${wait.name}`;
  const why =
    run.state === "queued"
      ? limitsThatHold(last.line).length > 0
        ? "it stands in line"
        : run.startedAt === null
          ? "no worker has taken it up yet"
          : "a worker is to take it up again"
      : run.state === "running"
        ? "a worker is at it"
        : wait?.state === "retrying"
          ? `${where} failed and is tried again`
          : where === ""
            ? "it waits"
            : `${where} waits`;
  return {
    tone: "waiting",
    times: runs.length,
    title: `${noun} is ${run.state} because ${why}`,
    detail: `${fn?.pausedAt == null ? "It goes on by itself." : "The function is paused for new events; this run goes on."}${lostWords(run)}`,
  };
}
