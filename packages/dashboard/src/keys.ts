// Letter keys. Everything they do can be done with Tab and Enter too; they are inactive in fields and can be switched off.
import { useEffect, useRef } from "react";
import { settingsNow } from "./settings.ts";

export interface KeyBinding {
  /** One key ("j", "?", "Escape", "ArrowDown") or two in a row ("g r"). */
  readonly keys: string;
  readonly words: string;
  readonly run: () => void;
  /** Also while a field has focus; for Escape. */
  readonly inFields?: boolean;
}

const layers: { current: readonly KeyBinding[] }[] = [];
// Two keys in a row count as one chord within this.
const chordMs = 1_000;
let pending: { readonly key: string; readonly at: number } | null = null;

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
  !(target instanceof HTMLInputElement && /^(checkbox|radio|button)$/.test(target.type));

/** The part that came on screen last is asked first. */
function find(keys: string, inField: boolean): KeyBinding | undefined {
  for (let i = layers.length - 1; i >= 0; i--) {
    const found = layers[i]!.current.find((each) => each.keys === keys && (!inField || each.inFields === true));
    if (found !== undefined) return found;
  }
  return undefined;
}

function hear(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return;
  const { key } = event;
  if (key.length === 1 && !settingsNow().letterKeys) return;
  // An open dialog has its own keys; the page behind it has none.
  if (document.querySelector("dialog[open]") !== null) return;
  const inField = isField(event.target);
  const chord =
    pending !== null && event.timeStamp - pending.at < chordMs ? find(`${pending.key} ${key}`, inField) : undefined;
  pending = inField ? null : { key, at: event.timeStamp };
  const found = chord ?? find(key, inField);
  if (found === undefined) return;
  if (chord !== undefined) pending = null;
  event.preventDefault();
  found.run();
}

export const startKeys = (): void => document.addEventListener("keydown", hear);

/** Bindings of what is on screen; gone with it. */
export function useKeys(bindings: readonly KeyBinding[]): void {
  const layer = useRef(bindings);
  layer.current = bindings;
  useEffect(() => {
    layers.push(layer);
    return () => void layers.splice(layers.indexOf(layer), 1);
  }, []);
}

/** For the list of keys: each once, what is on screen last first. */
export function boundKeys(): readonly KeyBinding[] {
  const byKeys = new Map<string, KeyBinding>();
  for (const layer of [...layers].reverse())
    for (const each of layer.current) if (!byKeys.has(each.keys)) byKeys.set(each.keys, each);
  return [...byKeys.values()];
}
