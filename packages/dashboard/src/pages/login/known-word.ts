// A word the server gave this browser at its last sign-in. Shown with the next password, it keeps wrong passwords of others from being
// held against this browser; it opens nothing, so it may be kept where scripts can read it.
const place = "idem-known";

export function knownWord(): { readonly known?: string } {
  try {
    const known = localStorage.getItem(place);
    return known === null ? {} : { known };
  } catch {
    // A browser that keeps nothing is a stranger each time.
    return {};
  }
}

export function keepKnownWord(word: string | null): void {
  if (word === null) return;
  try {
    localStorage.setItem(place, word);
  } catch {
    // As above.
  }
}
