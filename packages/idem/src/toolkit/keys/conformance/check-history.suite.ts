// Is what the database did, and what it told, one history of a key? Answers every sentence that is broken.
import type { Call, Writing, WrittenRow } from "./history.suite.ts";

export function faultsOf(writings: readonly Writing[], calls: readonly Call[]): string[] {
  const faults: string[] = [];
  for (const id of new Set([...writings, ...calls].map(({ id }) => id))) {
    const own = writings.filter((writing) => writing.id === id);
    const asked = calls.filter((call) => call.id === id);
    faults.push(...faultsOfWritings(own), ...faultsOfCalls(own, asked), ...faultsOfOrder(own, asked));
  }
  return faults;
}

/** Each write follows from the row that was there. */
function faultsOfWritings(writings: readonly Writing[]): string[] {
  const faults: string[] = [];
  let row: WrittenRow | null = null;
  for (const { place, at, before, after } of writings) {
    const fault = (what: string) => faults.push(`write ${place}: ${what}`);
    if (JSON.stringify(row) !== JSON.stringify(before)) fault("it was not made upon the last one");
    row = after;
    if (after === null) continue;
    if (before === null) {
      if (after.fence !== 1 || after.state !== "running") fault("a record begins running, with fence 1");
      continue;
    }
    if (after.fence < before.fence) fault("a fence shrank");
    if (after.owner !== before.owner || after.fence !== before.fence) {
      const isFree =
        (before.state === "running" && before.lease_until <= at) ||
        (before.state === "completed" && before.ends_at <= at);
      if (!isFree) fault(`taken from a live owner (${before.state}, fence ${before.fence})`);
      if (after.fence !== before.fence + 1 || after.owner === before.owner) fault("an owner has a fence of its own");
      if (after.state !== "running") fault("who takes over runs");
      continue;
    }
    if (before.state === "completed" && (after.state !== "completed" || after.reference !== before.reference)) {
      fault("an outcome changed inside of its window");
    }
  }
  return faults;
}

const becameOwner = ({ before, after }: Writing): boolean =>
  after !== null && (before === null || before.owner !== after.owner || before.fence !== after.fence);

const becameCompleted = ({ before, after }: Writing): boolean =>
  before?.state === "running" && after?.state === "completed";

const isFresh = ({ told }: Call): boolean => typeof told === "object" && told.kind === "fresh";

/** Every answer agrees with what was written. */
function faultsOfCalls(writings: readonly Writing[], calls: readonly Call[]): string[] {
  const faults: string[] = [];
  const holderOf = (owner: string, fence: number) => `${owner} with fence ${fence}`;
  const owners = writings.filter(becameOwner).map(({ after }) => holderOf(after!.owner, after!.fence));
  const fresh = calls.filter(isFresh).map(({ owner, fence }) => holderOf(owner, fence));
  if (owners.toSorted().join() !== fresh.toSorted().join()) {
    faults.push(`owners by the rows: ${owners.toSorted()}; by what they were told: ${fresh.toSorted()}`);
  }
  const completions = writings.filter(becameCompleted).map(({ after }) => after!);
  for (const { owner, fence, reference } of completions) {
    const call = calls.find((each) => each.reference === reference);
    if (call === undefined || call.told !== "held" || call.owner !== owner || call.fence !== fence) {
      faults.push(`"${reference}" was recorded for ${holderOf(owner, fence)}, who was not told so`);
    }
  }
  for (const call of calls) {
    if (call.name === "complete") {
      const wasRecorded = completions.some(({ owner, fence }) => owner === call.owner && fence === call.fence);
      if (call.told === "held" && !wasRecorded) faults.push(`"${call.reference}" was held and is not recorded`);
      if (call.told === "lost" && completions.some(({ reference }) => reference === call.reference)) {
        faults.push(`"${call.reference}" was lost and is recorded`);
      }
    }
    if (typeof call.told === "object" && call.told.kind === "duplicate") {
      const { outcome } = call.told;
      const reference = outcome.kind === "reference" ? outcome.reference : "";
      const recorded = calls.find((each) => each.reference === reference && each.told === "held");
      if (recorded === undefined || recorded.beganAt > call.endedAt) {
        faults.push(`call ${call.beganAt} was told "${reference}", which nobody had recorded`);
      }
    }
  }
  return faults;
}

/** A call that ended before another began was before it in the database, too. */
function faultsOfOrder(writings: readonly Writing[], calls: readonly Call[]): string[] {
  const faults: string[] = [];
  const placed = calls.flatMap((call) => {
    const writing = isFresh(call)
      ? writings.find(
          (each) => becameOwner(each) && each.after!.owner === call.owner && each.after!.fence === call.fence,
        )
      : writings.find((each) => becameCompleted(each) && each.after!.reference === call.reference);
    return writing === undefined ? [] : [{ call, place: writing.place }];
  });
  for (const first of placed) {
    for (const second of placed) {
      if (first.call.endedAt < second.call.beganAt && first.place > second.place) {
        faults.push(`call ${first.call.beganAt} ended before call ${second.call.beganAt} began, and was done after it`);
      }
    }
  }
  return faults;
}
