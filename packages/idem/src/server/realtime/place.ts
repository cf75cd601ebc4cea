// A subscriber's place in its channels, as it says it again when it comes back: a number for each, in the order of its topics.
import { errors } from "../../model/errors.ts";

export const placeText = (places: readonly number[]): string => places.join(".");

/** Throws REQUEST_INVALID for a place that no subscriber of so many channels was given. */
export function placesFrom(text: string, count: number): number[] {
  const places = text.split(".", count + 1).map((part) => (/^\d{1,16}$/.test(part) ? Number(part) : Number.NaN));
  if (places.length !== count || !places.every(Number.isSafeInteger)) {
    throw errors.REQUEST_INVALID({ why: `"${text.slice(0, 100)}" is no place of a subscriber of these topics` });
  }
  return places;
}
