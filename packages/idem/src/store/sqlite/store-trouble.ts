// Troubles of a store's file that people should know of, as sentences for a log.
import type { Spell } from "./patience.ts";

export interface StoreTrouble {
  readonly level: "warn" | "error";
  readonly kind: Spell["kind"] | "broken" | "copied" | "rolled-back";
  readonly path: string;
  readonly text: string;
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

export function spellTrouble(spell: Spell, path: string): StoreTrouble {
  return { level: "warn", kind: spell.kind, path, text: sentence(spell, path) };
}

function sentence(spell: Spell, path: string): string {
  const time = seconds(spell.forMs);
  switch (spell.kind) {
    case "locked":
      return `Another program has kept the store ${path} locked for ${time}; nothing can be stored until it lets go`;
    case "full":
      return `The disk of the store ${path} has been full for ${time}; nothing can be stored until there is room`;
    case "failing":
      return `The disk of the store ${path} has refused for ${time}: ${spell.why}; nothing can be stored meanwhile`;
    case "slow":
      return `The store ${path} is slow: a commit took ${time}`;
    case "over":
      return `The store ${path} is no longer ${spell.was}, after ${time}`;
  }
}
