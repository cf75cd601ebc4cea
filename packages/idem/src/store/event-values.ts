// Values of events' data that people search by. A store keeps them with their event, in its commit, and lets go of them with it.

import type { EventValue } from "../model/event-values.ts";

/** The kind of setting that says which fields of an event are searched by: its name is the event's. A process decides by the newest. */
export const searchKind = "search";

export interface FoundValue extends Omit<EventValue, "word"> {
  readonly eventId: string;
  /** Of the event. */
  readonly name: string;
}

export interface ValueFilter {
  /** In small letters. */
  readonly word: string;
  /** Words that begin so and go on; without it, the whole word, newest event first. */
  readonly isBeginning?: true;
  readonly limit: number;
}

/** Behind every word that begins so: no character is above it, in the order of bytes. */
export const afterWords = (word: string): string => `${word}\u{10FFFF}`;
