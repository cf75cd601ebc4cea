// Payloads a person keeps for the next test, in this browser: they are theirs, and may hold what nobody else should see.

export interface SavedPayload {
  readonly label: string;
  readonly name: string;
  readonly data: string;
}

const place = "idem-saved-payloads";
// localStorage takes some 5 MB in all.
const savedMax = 50;

export function savedPayloads(): readonly SavedPayload[] {
  try {
    const read = JSON.parse(localStorage.getItem(place) ?? "[]") as readonly Partial<SavedPayload>[];
    return read.filter(
      (each): each is SavedPayload =>
        typeof each.label === "string" && typeof each.name === "string" && typeof each.data === "string",
    );
  } catch {
    return [];
  }
}

/** The same label again replaces; false when the browser has no room. */
export function savePayload(payload: SavedPayload): boolean {
  const all = [payload, ...savedPayloads().filter(({ label }) => label !== payload.label)].slice(0, savedMax);
  try {
    localStorage.setItem(place, JSON.stringify(all));
    return true;
  } catch {
    return false;
  }
}
