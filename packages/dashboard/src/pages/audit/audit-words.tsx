// "released the key …": what was done, in words, and the thing it was done to, as a link where it has a page.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { AuditAction } from "../../../../idem/src/store/audit.ts";
import { hasPage } from "../../pages.ts";
import { functionLink, runLink } from "../../parts/decision.tsx";
import type { Choice } from "../../parts/field.tsx";
import { cutMiddle } from "../../parts/id.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import type { AuditEntry } from "./audit-entries.ts";

const words: Readonly<Record<AuditAction, string>> = {
  "release-key": "released the key",
  "resolve-key": "settled the key",
  "resolve-effect": "settled the effect",
  "pause-function": "paused",
  "resume-function": "resumed",
  "change-limit": "changed the limit of",
  "release-event": "let the event run",
  "drop-event": "dropped the event",
  "send-events": "sent",
  "raise-signal": "raised the signal",
  "cancel-run": "cancelled run",
  "rerun-run": "reran run",
  "release-run": "let go on run",
  "start-bulk": "started the bulk work",
  "cancel-bulk": "stopped the bulk work",
  "add-app": "added the app",
  "change-setting": "changed the setting",
  "acknowledge-alert": "acknowledged alert",
  "mute-alert": "muted alert",
  "close-alert": "closed alert",
  "test-channel": "tried the channel",
  "prune-history": "deleted history from before",
  "take-backup": "took a backup of",
  "sign-in": "signed in from",
  "sign-in-refused": "was refused to sign in from",
  "sign-out": "signed out",
};

/** An action this page does not know is shown by its own name. */
export const actionWords = (action: string): string =>
  Object.hasOwn(words, action) ? words[action as AuditAction] : visibleText(action);

export const actionChoices: readonly Choice[] = [
  { value: "", text: "anything" },
  ...Object.entries(words)
    .map(([value, text]) => ({ value, text: text.replace(/ from$/, "") }))
    .toSorted((a, b) => (a.text < b.text ? -1 : 1)),
];

const short = (id: string): ReactNode => (
  <bdi className="mono" title={visibleText(id)}>
    {visibleText(cutMiddle(id, 32))}
  </bdi>
);

export function Subject({ entry: { action, subject } }: { readonly entry: AuditEntry }) {
  if (subject === "") return null;
  if (action === "cancel-run" || action === "rerun-run" || action === "release-run")
    return runLink(subject, short(subject));
  if (action === "pause-function" || action === "resume-function" || action === "change-limit")
    return functionLink(subject);
  if (/^(acknowledge|mute|close)-alert$/.test(action) && hasPage("/radar/alerts/$alert"))
    return (
      <Link to="/radar/alerts/$alert" params={{ alert: subject }}>
        {short(subject)}
      </Link>
    );
  if (/^(release|drop)-event$|^send-events$/.test(action) && hasPage("/events/$event"))
    return (
      <Link to="/events/$event" params={{ event: subject.split(" ")[0]! }}>
        {short(subject)}
      </Link>
    );
  return short(subject);
}
