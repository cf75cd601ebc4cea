// A function's line in words: how many, behind what, since when, and about how long it takes.
import type { Answer } from "../api/client.ts";
import { lengthWords } from "./time-words.ts";

export type LineNow = Answer<"GET /api/functions">["functions"][number]["line"];

/** "concurrency 2", "throttle 5 in 1 m for each event.data.client" */
export function behindWords({ kind, limit, periodMs, key }: NonNullable<LineNow["behind"]>): string {
  const each = key === null ? "" : ` for each ${key}`;
  switch (kind) {
    case "concurrency":
      return `concurrency ${limit}${each}`;
    case "throttle":
      return `throttle ${limit} in ${lengthWords(periodMs!)}${each}`;
    case "no-worker":
      return "no worker";
    case "workers":
      return "workers that are busy";
  }
}

const whole = (ms: number): string => lengthWords(ms).split(" ").slice(0, 2).join(" ");

/** "The oldest has waited 9 m; about 85 m to go." */
export function moveWords({ oldestAt, emptyInMs, endsPerMinute, comePerMinute }: LineNow, now: number): string {
  const oldest = oldestAt === null ? "" : `The oldest has waited ${whole(Math.max(0, now - oldestAt))}`;
  return [oldest, aheadWords({ emptyInMs, endsPerMinute, comePerMinute })].filter((text) => text !== "").join("; ");
}

export function aheadWords({
  emptyInMs,
  endsPerMinute,
  comePerMinute,
}: Pick<LineNow, "emptyInMs" | "endsPerMinute" | "comePerMinute">): string {
  // In minutes up to two hours: "about 85 m" is compared at a glance.
  if (emptyInMs !== null) {
    const minutes = Math.max(1, Math.round(emptyInMs / 60_000));
    return `about ${minutes < 120 ? `${minutes} m` : whole(emptyInMs)} to go`;
  }
  if (endsPerMinute === 0) return "none has ended since, so nobody can say how long it takes";
  const grows = Math.round(((comePerMinute ?? 0) - endsPerMinute) * 10) / 10;
  return grows > 0 ? `more come than end: it grows by ${grows} a minute` : "as many come as end";
}

/** Whether it moves at all. */
export function workWords({ atWork, endsPerMinute }: Pick<LineNow, "atWork" | "endsPerMinute">): string {
  if (atWork === 0) return "None is at work now.";
  if (endsPerMinute === 0) return `${atWork} at work; none has ended in the last minutes.`;
  return `Nothing is stuck: ${atWork} at work, and ${endsPerMinute} a minute end.`;
}
