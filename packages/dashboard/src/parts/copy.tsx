// Copies text as it is, and says so.
import { useState } from "react";
import { say } from "../frame/messages.ts";
import { Icon } from "./icon.tsx";
import "./copy.css";

// Long enough to be seen, short enough to copy the next.
const shownMs = 1_500;

/** True once the text is in the clipboard; a page that is not served safely has none. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** Over plain HTTP on another host browsers hide the clipboard, but let a selection be copied. */
function copyBySelection(text: string): boolean {
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "spoken";
  document.body.append(field);
  const before = document.activeElement;
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  if (before instanceof HTMLElement) before.focus();
  return done;
}

/** `what` names the thing for people who cannot see where the button stands: "run 01JV…F2". */
export function Copy({ text, what }: { readonly text: string; readonly what: string }) {
  const [isDone, setDone] = useState(false);
  const copy = async () => {
    const done = await copyText(text);
    say(done ? `Copied ${what}` : "This browser did not let the page copy. Select the text instead.", { brief: true });
    if (!done) return;
    setDone(true);
    setTimeout(() => setDone(false), shownMs);
  };
  return (
    <button type="button" className="copy" aria-label={`Copy ${what}`} onClick={() => void copy()}>
      <Icon name={isDone ? "check" : "copy"} size={12} />
    </button>
  );
}
