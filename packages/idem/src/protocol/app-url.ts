// An app's serve URL as it is kept: without what belongs to one sync or one call, and one spelling for this machine
// (docs/reference/wire.md#syncs). Two URLs of the same place are then the same text.

const passing = ["deployId", "fnId", "stepId"];

// "localhost" is what all of them are called, because it reaches an app on either family of addresses.
const thisMachine = new Set(["127.0.0.1", "0.0.0.0", "[::1]", "[::]"]);

/** Null for what is no URL. */
export function canonicalAppUrl(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  for (const name of passing) url.searchParams.delete(name);
  url.hash = "";
  if (thisMachine.has(url.hostname)) url.hostname = "localhost";
  return url.href;
}

const urlCharsShown = 200;

/** A URL for people and logs: without password and query, which may be secret. */
export function shownUrl(text: string): string {
  return text
    .replace(/\/\/[^/@]*@/, "//…@")
    .replace(/[?#].*$/s, "")
    .slice(0, urlCharsShown);
}
