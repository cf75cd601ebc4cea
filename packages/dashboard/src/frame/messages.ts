// The page's own messages: what an action did, that something was copied, that an alert was raised.
import { useSyncExternalStore } from "react";

export interface Message {
  readonly id: number;
  readonly text: string;
  /** `alert`, of something that happened twice, and `note` are spoken at once and stay until they are opened or closed. */
  readonly tone: "done" | "alert" | "note";
  readonly link: { readonly text: string; readonly href: string } | null;
}

const shownMs = 6_000;
const briefMs = 2_000;
// More than this nobody reads; the oldest goes.
const messagesMax = 4;

let messages: readonly Message[] = [];
let lastId = 0;
const watchers = new Set<() => void>();

function change(to: readonly Message[]): void {
  messages = to;
  for (const each of watchers) each();
}

export const dismiss = (id: number): void => change(messages.filter((each) => each.id !== id));

export function say(
  text: string,
  {
    tone = "done",
    brief = false,
    link = null,
  }: { tone?: Message["tone"]; brief?: boolean; link?: Message["link"] } = {},
): void {
  const id = ++lastId;
  change([...messages.filter((each) => each.text !== text), { id, text, tone, link }].slice(-messagesMax));
  if (tone === "done") setTimeout(() => dismiss(id), brief ? briefMs : shownMs);
}

const subscribe = (watcher: () => void): (() => void) => {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
};

export const useMessages = (): readonly Message[] => useSyncExternalStore(subscribe, () => messages);
