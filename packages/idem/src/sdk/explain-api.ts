// idem.explain: the story of one event, one run or one key, in the words and values its user knows.
import type { Engine } from "../engine/engine.ts";
import { outlookOf } from "../engine/outlook.ts";
import { errors } from "../model/errors.ts";
import {
  type ExplainedEvent,
  type ExplainedKey,
  type ExplainedRun,
  explainEvent,
  explainKey,
  explainRun,
} from "../observe/explain.ts";
import { findEvent } from "../observe/find-event.ts";
import type { PendingBuffer } from "../observe/outlook.ts";
import { answerStory, type StoryAsked, storyOf } from "../stories/answer-story.ts";
import type { Story, StoryAnswer, StorySubject } from "../stories/story.ts";
import { storyLines } from "../stories/story-text.ts";
import { keyText, nameIn } from "./find-subject.ts";
import {
  type PublicDecision,
  type PublicEvent,
  type PublicRun,
  publicDecision,
  publicEvent,
  publicRun,
} from "./public-types.ts";

/** The same story for every asker, in lines and in parts. */
export interface Told {
  /** The verdict, the four places where a duplicate can be stopped, what happened with its times in UTC, and what to do. */
  readonly summary: readonly string[];
  readonly story: Story;
}

export interface EventStory extends Pick<ExplainedEvent, "kind">, Told {
  readonly event: PublicEvent;
  /** On a duplicate: the event that was first. */
  readonly first: PublicEvent | null;
  readonly duplicates: readonly PublicEvent[];
  readonly decisions: readonly PublicDecision[];
  /** The functions that have not decided it yet. */
  readonly pending: readonly PendingStory[];
}

export interface PendingStory {
  readonly function: string;
  /** The buffer that keeps it; null where a person decides. */
  readonly buffer: PendingBuffer | null;
}

export interface RunStory extends Pick<ExplainedRun, "kind" | "line" | "cancelOn">, Told {
  readonly run: PublicRun;
  readonly event: PublicEvent | null;
  /** All that it carries, `event` first: more than one only in a batch. */
  readonly events: readonly PublicEvent[];
  /** Decisions that were answered with this run instead of starting another. */
  readonly spared: readonly PublicDecision[];
}

export interface KeyStory extends Omit<ExplainedKey, "holder" | "spared" | "earlier">, Told {
  readonly holder: PublicRun | null;
  readonly spared: readonly PublicDecision[];
  /** The runs that held the key before, newest first. */
  readonly earlier: readonly PublicRun[];
}

export interface Explain {
  /** By an event's stored id, an event's own id, or a run's id. */
  (id: string): Promise<EventStory | RunStory>;
  (key: { readonly function: string; readonly key: unknown }): Promise<KeyStory>;
}

/** The story of any id, key or value, or what it may mean. */
export type Tell = (asked: StoryAsked) => Promise<StoryAnswer>;

export const teller =
  (engineOf: () => Promise<Engine>): Tell =>
  async (asked) =>
    answerStory(await engineOf(), asked);

export function explainer(engineOf: () => Promise<Engine>): Explain {
  async function explain(subject: string | { readonly function: string; readonly key: unknown }): Promise<unknown> {
    const engine = await engineOf();
    return typeof subject === "object" ? keyStory(engine, subject.function, subject.key) : story(engine, subject);
  }
  return explain as Explain;
}

async function toldOf(engine: Engine, subject: StorySubject): Promise<Told> {
  const told = await storyOf(engine, subject);
  // It was there a moment ago: pruned meanwhile.
  if (told === null) throw errors.SUBJECT_UNKNOWN({ id: subject.id });
  return { summary: storyLines(told), story: told };
}

async function story(engine: Engine, id: string): Promise<EventStory | RunStory> {
  const { store, env } = engine;
  const nameOf = nameIn(engine);
  const run = await store.reads.run(env, id);
  if (run !== null) {
    const { event, events, spared, ...rest } = await explainRun(store.reads, env, run, outlookOf(engine));
    return {
      ...rest,
      ...(await toldOf(engine, { as: "run", id, function: null })),
      run: publicRun(run, nameOf),
      event: event === null ? null : publicEvent(event),
      events: events.map(publicEvent),
      spared: spared.map((decision) => publicDecision(decision, decision.differs, nameOf)),
    };
  }
  const found = await findEvent(engine, id);
  if (found === null) throw errors.SUBJECT_UNKNOWN({ id });
  const explained = await explainEvent(store.reads, env, found, outlookOf(engine));
  const { event, first, duplicates, decisions, pending, ...rest } = explained;
  return {
    ...rest,
    ...(await toldOf(engine, { as: "event", id: found.id, function: null })),
    event: publicEvent(event),
    first: first === null ? null : publicEvent(first),
    duplicates: duplicates.map(publicEvent),
    decisions: decisions.map((decision) => publicDecision(decision, decision.differs, nameOf)),
    pending: pending.map(({ fn, buffer }) => ({ function: nameOf(fn), buffer })),
  };
}

async function keyStory(engine: Engine, name: string, key: unknown): Promise<KeyStory> {
  const nameOf = nameIn(engine);
  const fn = engine.registry.slugOf(name);
  const text = keyText(key);
  const explained = await explainKey(engine.store.reads, engine.env, fn, text, engine.now());
  return {
    ...explained,
    ...(await toldOf(engine, { as: "key", id: text, function: fn })),
    function: nameOf(fn),
    holder: explained.holder === null ? null : publicRun(explained.holder, nameOf),
    spared: explained.spared.map((decision) => publicDecision(decision, decision.differs, nameOf)),
    earlier: explained.earlier.map((run) => publicRun(run, nameOf)),
  };
}
