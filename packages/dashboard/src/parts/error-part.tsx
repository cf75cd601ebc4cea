// In place of the part that failed, never of the whole page: what happened, what to do, and a code to look up.
import { ApiError } from "../api/client.ts";
import { addressOf } from "../base-path.ts";
import { Button } from "./button.tsx";
import { Copy } from "./copy.tsx";
import { visibleText } from "./visible-text.ts";
import "./error-part.css";

interface ErrorPartProps {
  readonly error: unknown;
  /** Names the part that could not be shown: "The list could not be read". */
  readonly what: string;
  readonly onRetry?: () => void;
}

export function ErrorPart({ error, what, onRetry }: ErrorPartProps) {
  const known = error instanceof ApiError ? error : null;
  const detail = known?.detail ?? (error instanceof Error ? error.message : String(error));
  const code = known?.code ?? "PAGE_FAILED";
  return (
    <div className="error-part" role="alert">
      <p className="title">{what}</p>
      <p className="quiet">
        {visibleText(detail)}
        {known?.next != null && `. ${visibleText(known.next)}`}.
      </p>
      <p className="button-row">
        {onRetry !== undefined && <Button onClick={onRetry}>Try again</Button>}
        {known?.status === 401 && (
          <a className="button is-plain" href={addressOf("login")}>
            Sign in
          </a>
        )}
        <span className="code">
          <code>{code}</code>
          <Copy text={code} what="the code" />
        </span>
      </p>
    </div>
  );
}
