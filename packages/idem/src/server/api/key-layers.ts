// Keys by the layer that claims them, as people look for them.

export const keyLayers = ["function", "event", "webhook", "http", "singleton", "effect"] as const;
export type KeyLayer = (typeof keyLayers)[number];

interface Layer {
  /** Its claims are in this scope, … */
  readonly scope?: string;
  /** … or in those that begin so: what follows is a function, or what else the key is unique within. */
  readonly under?: string;
  readonly words: string;
  /** The key was computed by an expression and is JSON, where 7 and "7" differ. */
  readonly isJson?: true;
  /** Its holder's id is one of these. */
  readonly holder?: "run" | "event";
}

export const layers: Readonly<Record<KeyLayer, Layer>> = {
  function: { under: "fn:", words: "function key", isJson: true, holder: "run" },
  event: { scope: "event", words: "event id", holder: "event" },
  webhook: { scope: "webhook", words: "webhook id", holder: "event" },
  http: { scope: "http", words: "HTTP" },
  singleton: { under: "singleton:", words: "one at a time", isJson: true, holder: "run" },
  effect: { under: "effect:", words: "effect" },
};

/** Null for a claim of none of them. */
export function layerOf(scope: string): KeyLayer | null {
  // Requests of one principal have a scope of their own.
  if (scope.startsWith("http:")) return "http";
  const isIn = (layer: KeyLayer): boolean => {
    const { scope: own, under } = layers[layer];
    return scope === own || (under !== undefined && scope.startsWith(under));
  };
  return keyLayers.find(isIn) ?? null;
}
