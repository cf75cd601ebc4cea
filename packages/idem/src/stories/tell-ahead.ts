// The present and the future: runs that stand in line, events that would cancel them, events that wait for others.
import { inLineWords } from "../flow/words.ts";
import { lengthText } from "../model/length-text.ts";
import { isOpen } from "../model/window.ts";
import type { LimitInLine } from "../observe/outlook.ts";
import type { Case, CaseRun } from "./gather-case.ts";
import type { StoryFact } from "./story.ts";
import { capital, plainOf, shortId, some } from "./story-words.ts";

type Fact = Pick<StoryFact, "at" | "kind" | "text"> & { readonly untilAt?: never };

/** In order, after what happened: what is so now first. */
export function tellAhead(told: Case): Fact[] {
  const now: Fact[] = [];
  const later: Fact[] = [];
  for (const { fn, buffer } of told.pending) {
    const name = told.nameOf(fn);
    if (buffer === null) continue;
    const { count, max, startsAt, newestEventId } = buffer;
    if (max !== null) {
      now.push({ at: null, kind: "waiting", text: `${capital(some(count, "event"))} of ${max} are in the batch.` });
      later.push({ at: startsAt, kind: "waiting", text: `A run of ${name} starts for them at the latest.` });
    } else if (newestEventId === told.asked?.id) {
      now.push({ at: null, kind: "waiting", text: `${capital(some(count, "event"))} came so far.` });
      later.push({
        at: startsAt,
        kind: "waiting",
        text: `A run of ${name} starts for it, unless another event comes.`,
      });
    } else {
      const newest = `event ${newestEventId}`;
      now.push({
        at: null,
        kind: "waiting",
        text: `It was superseded by ${newest}; ${some(count, "event")} came so far.`,
      });
      later.push({
        at: startsAt,
        kind: "waiting",
        text: `A run of ${name} starts for ${newest}, unless another comes.`,
      });
    }
  }
  for (const run of told.runs) now.push(...inLine(run), ...cancelling(run));
  const window = windowFact(told);
  if (window !== null && window.at === null) now.push(window);
  if (window !== null && window.at !== null && window.at > told.now) later.push(window);
  return [...now, ...later];
}

/** Whether the key of these runs is taken, and until when. Null where it is another's by now. */
export function windowFact({ runs, key, claim, now }: Case): Fact | null {
  if (key === null || claim === null || !runs.some(({ run }) => run.id === claim.holder)) return null;
  const name = `key ${shortId(plainOf(key))}`;
  if (claim.state === "released")
    return { at: null, kind: "note", text: `${capital(name)} is free: it was given back.` };
  if (!isOpen(claim, now)) return { at: claim.endsAt, kind: "note", text: `The window of ${name} ended.` };
  if (claim.endsAt <= now) return { at: null, kind: "note", text: `${capital(name)} is taken while its run is open.` };
  const also = claim.held ? ", and while its run is open" : "";
  return { at: claim.endsAt, kind: "note", text: `The window of ${name} ends. Until then it is taken${also}.` };
}

function inLine({ number, run, line }: CaseRun): Fact[] {
  if (line.length === 0) return [];
  const shown = limitsThatHold(line);
  const texts =
    shown.length === 0
      ? [`Run ${number} is due, its limits have room, and no worker has taken it up yet.`]
      : shown.map((limit) => `Run ${number} stands in line for ${limitWords(limit)}.`);
  return texts.map((text) => ({ at: null, kind: run.state === "queued" ? "queued" : "note", text }));
}

/** The ones that are full; one that nobody holds says nothing about a run that could not begin anyway. */
export function limitsThatHold(line: readonly LimitInLine[]): readonly LimitInLine[] {
  const full = line.filter(({ used, limit }) => used !== null && used >= limit);
  return full.length > 0 ? full : line.filter(({ used }) => used === null);
}

function limitWords(inLine: LimitInLine): string {
  const { kind, key, scope, waiting } = inLine;
  const of = `${key === null ? "" : ` of key ${shortId(plainOf(key))}`}${scope === "fn" ? "" : ` (${scope})`}`;
  return `${inLineWords[kind](of, inLine, some)}, and ${some(waiting, "run waits", "runs wait")} for it`;
}

function cancelling({ number, run, cancelOn }: CaseRun): Fact[] {
  return cancelOn.map(({ event, if: condition, until }) => {
    const where = condition === null ? "" : ` where ${condition}`;
    const within = until === null ? "" : `, within ${lengthText(until - run.createdAt)} of its start`;
    return { at: null, kind: "note", text: `Event ${event} would cancel run ${number}${where}${within}.` };
  });
}
