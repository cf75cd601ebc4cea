// The address holds the whole view and is read here: text as text, so that the key 7 stays "7"; a value that is not among the
// choices is as if it were not there.

export const parseSearch = (text: string): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(text.startsWith("?") ? text.slice(1) : text));

export function stringifySearch(search: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(search))
    if (value !== undefined && value !== null && value !== "") query.set(name, String(value));
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

/** A parameter that is one of a few words. */
export const oneOf =
  <const Choices extends readonly string[]>(...choices: Choices) =>
  (value: unknown): Choices[number] | undefined =>
    choices.find((each) => each === value);

// Longer than any key or expression the server takes.
const textCharsMax = 4_096;

export const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value.slice(0, textCharsMax) : undefined;

type Readers = Readonly<Record<string, (value: unknown) => string | undefined>>;
type Read<R extends Readers> = { readonly [Name in keyof R]?: ReturnType<R[Name]> };

/** From readers by name to what the router asks for: names nobody reads are let go of. */
export const searchOf =
  <R extends Readers>(readers: R) =>
  (given: Readonly<Record<string, unknown>>): Read<R> => {
    const read: Record<string, string> = {};
    for (const [name, reader] of Object.entries(readers)) {
      const value = reader(given[name]);
      if (value !== undefined) read[name] = value;
    }
    return read as Read<R>;
  };
