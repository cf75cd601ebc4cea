// Options that nobody knows. A mistyped one would be passed over in silence, and what it was meant to prevent would happen: it is refused
// where it is given, with the word that was probably meant.
import { errors } from "./errors.ts";
import { didYouMean } from "./nearest-word.ts";

type NamesOf<Options> = Options extends unknown ? keyof Options : never;

/** Every option a type has: a type that gets a new one does not compile before it is named here too. */
export type KnownOptions<Options> = { readonly [Name in NamesOf<Options>]: true };

/** Options of code written for Inngest that Idem has no use for, each with why not. A warning says so, and the code runs as it is. */
export interface Foreign {
  readonly options: Readonly<Record<string, string>>;
  readonly warn: (message: string) => void;
}

/**
 * Throws OPTION_UNKNOWN: `refuseUnknown<SendOptions>("send", options, { window: true })`. An option that is undefined was not given; an
 * instance of a class of the caller's own may have what it likes.
 */
export function refuseUnknown<Options>(
  where: string,
  given: unknown,
  known: KnownOptions<Options>,
  foreign?: Foreign,
): void {
  if (!isPlainObject(given)) return;
  for (const option of Object.keys(given)) {
    if (Object.hasOwn(known, option) || given[option] === undefined) continue;
    if (foreign === undefined || !Object.hasOwn(foreign.options, option)) {
      const names = Object.keys(known);
      throw errors.OPTION_UNKNOWN({ where, option, meant: didYouMean(option, names), known: names });
    }
    foreign.warn(
      `${where}: option "${option}" is Inngest's and has no effect in Idem: ${foreign.options[option]}; it can be removed`,
    );
  }
}

/** Of whichever realm: a prototype that has none itself is Object's. */
function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
