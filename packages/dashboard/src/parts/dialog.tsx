// Asks before something is done: what it will do and what it will not, a reason where one is kept, and the consequence on the button.
// Closing gives focus back to where it was.
import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { ApiError } from "../api/client.ts";
import { ActButton, Button, type ButtonLook } from "./button.tsx";
import { TextArea } from "./field.tsx";
import "./dialog.css";

interface DialogProps {
  readonly title: ReactNode;
  readonly children: ReactNode;
  readonly onClose: () => void;
  readonly wide?: boolean;
}

export function Dialog({ title, children, onClose, wide = false }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const dialog = ref.current!;
    const before = document.activeElement;
    dialog.showModal();
    return () => {
      dialog.close();
      // Not a field of an older page: one that is gone cannot take focus.
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog by itself; the click is on the veil around it
    <dialog
      ref={ref}
      className={`dialog${wide ? " is-wide" : ""}`}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === ref.current && onClose()}
    >
      <div className="body">
        <h2 id={heading}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

interface AskFirstProps {
  readonly title: ReactNode;
  /** Says what it will do, and what it will not. */
  readonly children: ReactNode;
  /** The consequence: "Release the key". */
  readonly action: string;
  readonly look?: ButtonLook;
  /** `demanded`: the button is dead until something is written. */
  readonly reason?: "none" | "offered" | "demanded";
  /** False while what else is asked for is not there. */
  readonly isReady?: boolean;
  readonly onAct: (reason: string) => Promise<unknown>;
  readonly onClose: () => void;
}

export function AskFirst({
  title,
  children,
  action,
  look = "primary",
  reason = "none",
  isReady: isGiven = true,
  onAct,
  onClose,
}: AskFirstProps) {
  const [text, setText] = useState("");
  const [isActing, setActing] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const isReady = isGiven && !isActing && (reason !== "demanded" || text.trim() !== "");
  const act = async () => {
    setActing(true);
    setError(null);
    try {
      await onAct(text.trim());
      onClose();
    } catch (failure) {
      setError(
        failure instanceof ApiError
          ? [failure.detail, failure.next].filter((each) => each !== null).join(". ")
          : String(failure),
      );
      setActing(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) void act();
        }}
      >
        <div className="quiet">{children}</div>
        {reason !== "none" && (
          <TextArea
            label={reason === "demanded" ? "Reason" : "Reason (optional)"}
            hint="Kept in the audit"
            value={text}
            onChange={setText}
            rows={2}
            focusFirst
          />
        )}
        <FormEnd error={error} look={look} isReady={isReady} onClose={onClose}>
          {action}
        </FormEnd>
      </form>
    </Dialog>
  );
}

/** The end of a form in a dialog: what went wrong, the way out, and the action, by name. */
export function FormEnd({
  error,
  look = "primary",
  isReady,
  onClose,
  children,
}: {
  readonly error: string | null;
  readonly look?: ButtonLook;
  readonly isReady: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  return (
    <>
      {error !== null && (
        <p className="failed" role="alert">
          {error}
        </p>
      )}
      <div className="button-row is-end">
        <Button onClick={onClose}>Not now</Button>
        <ActButton type="submit" look={look} disabled={!isReady}>
          {children}
        </ActButton>
      </div>
    </>
  );
}
