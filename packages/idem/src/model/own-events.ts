// Names of events that are Idem's own.

/** Prefixes of Idem's own events; nobody else may send such. */
export const ownEventPrefixes = ["inngest/", "idem/"] as const;

/** In whatever letters: two names that look the same are not two kinds of event. */
export const isOwnEvent = (name: string): boolean => {
  const lower = name.toLowerCase();
  return ownEventPrefixes.some((prefix) => lower.startsWith(prefix));
};
