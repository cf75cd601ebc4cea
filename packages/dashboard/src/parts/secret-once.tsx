// A secret that was made here: shown this once, and gone when it is closed.
import type { ReactNode } from "react";
import { say } from "../frame/messages.ts";
import { Button } from "./button.tsx";
import { copyText } from "./copy.tsx";
import { Dialog } from "./dialog.tsx";
import "./secret-once.css";

export function SecretOnce({
  secret,
  name,
  children,
  onClose,
}: {
  readonly secret: string;
  readonly name: string;
  /** Says where to take it now, and what to do when it is lost. */
  readonly children: ReactNode;
  readonly onClose: () => void;
}) {
  const copy = async () => {
    const done = await copyText(secret);
    say(done ? "Copied the secret" : "This browser did not let the page copy. Select the text instead.", {
      brief: true,
    });
  };
  return (
    <Dialog title={`The secret of ${name}`} onClose={onClose}>
      <p className="quiet">{children}</p>
      <pre className="secret">{secret}</pre>
      <div className="button-row is-end">
        <Button onClick={() => void copy()}>Copy the secret</Button>
        <Button look="primary" onClick={onClose}>
          I have stored it
        </Button>
      </div>
    </Dialog>
  );
}
