// Arrivals in a world, and their times: the event, and what its schedule delivers besides.
import type { Adversity } from "../schedules.ts";
import type { WorldScript } from "./world-script.ts";

type Event = WorldScript["event"];

interface Course extends Pick<WorldScript, "event" | "twin" | "second" | "changed" | "names" | "windowMs"> {
  readonly adversities: readonly Adversity[];
}

interface CourseWorld {
  readonly monoMs: () => number;
  readonly in: (ms: number, run: () => void) => void;
  readonly moveTo: (at: number) => Promise<void>;
  /** `invented`: refused, it shows nothing. */
  readonly deliver: (event: Event, what: string, invented: boolean) => void;
  /** Until nothing waits any more. */
  readonly play: () => Promise<void>;
  readonly happened: (adversity: Adversity) => void;
}

/** Whether something was delivered after the key's window had ended. */
export async function playCourse(course: Course, world: CourseWorld): Promise<{ readonly isPastWindow: boolean }> {
  const { event, twin, second = null, changed, names, windowMs, adversities } = course;
  const has = <K extends Adversity["kind"]>(kind: K) =>
    adversities.find((each): each is Extract<Adversity, { kind: K }> => each.kind === kind) ?? null;
  const again = has("again");
  const otherId = has("other-id");
  const otherName = has("other-name");
  const otherField = has("other-field");
  const twinned = has("twin");
  const paired = second === null ? null : has("pair");
  const anotherId = { ...event, id: `${event.id}-again` };
  const renamed = otherName && { ...event, name: otherName.event, id: `${event.id}-other-name` };
  const isHeard = names.some((name) => name === otherName?.event || name.includes("*"));
  const begunAt = world.monoMs();
  let isPastWindow = false;
  const deliver = (by: Adversity, next: Event, what: string, invented = false): void => {
    if (by.kind !== "other-name" || isHeard) world.happened(by);
    world.deliver(next, what, invented);
  };

  if (renamed !== null && otherName?.order === "first") {
    deliver(otherName, renamed, `event ${renamed.name} arrived`, true);
    await world.play();
  }
  world.deliver(event, `event ${event.name} arrived`, false);
  if (again?.when === "at-once") deliver(again, event, "the same event arrived at the same time");
  if (otherId?.when === "at-once")
    deliver(otherId, anotherId, "the same data arrived at the same time, under another id");
  if (twinned?.when === "at-once" && twin !== null) deliver(twinned, twin, "the twin's event arrived at the same time");
  if (paired?.when === "at-once")
    deliver(paired, second!, `event ${second!.name} for the same thing arrived at the same time`);
  if (paired?.when === "as-seen")
    world.in(second!.apartMs, () => deliver(paired, second!, `event ${second!.name} for the same thing arrived`));
  if (again?.when === "later") world.in(1_000, () => deliver(again, event, "the same event arrived again"));
  await world.play();

  const later = async (
    by: Adversity,
    what: string,
    next: Event,
    { at = world.monoMs(), invented = false } = {},
  ): Promise<void> => {
    await world.moveTo(at);
    // Two events that are taken for one thing are one, however far apart.
    if (by.kind !== "pair" && world.monoMs() - begunAt >= windowMs) isPastWindow = true;
    deliver(by, next, what, invented);
    await world.play();
  };
  const aMinuteOn = () => ({ at: world.monoMs() + 60_000 });
  if (again?.when === "after-end") await later(again, "the same event arrived again", event, aMinuteOn());
  if (otherId !== null && otherId.when !== "at-once") {
    const windowEnd = { at: begunAt + windowMs + (otherId.when === "before-window-end" ? -1 : 1) };
    const when = otherId.when === "after-end" ? aMinuteOn() : windowEnd;
    await later(otherId, "the same data arrived again, under another id", anotherId, when);
  }
  if (renamed !== null && otherName?.order === "after")
    await later(otherName, `the same data arrived as ${renamed.name}`, renamed, { invented: true });
  const data = changed[otherField?.field ?? ""];
  if (otherField !== null && data !== undefined) {
    const other = { ...event, id: `${event.id}-field`, data };
    await later(otherField, `an event arrived with another ${otherField.field}`, other, { invented: true });
  }
  if (paired?.when === "after-end")
    await later(paired, `event ${second!.name} for the same thing arrived`, second!, aMinuteOn());
  if (twinned?.when === "after-end" && twin !== null)
    await later(twinned, "the twin's event arrived", twin, aMinuteOn());
  return { isPastWindow };
}
