// An error: its message first, the frames of the author's own code next, the rest folded.
import { visibleBlock, visibleText } from "../../parts/visible-text.ts";
import type { ErrorItem } from "./run-data.ts";
import { framesOf } from "./run-words.ts";
import "./error-view.css";

// A message may be 32 KB long; the beginning says what it is about.
const messageCharsShown = 2_000;
const framesShown = 8;

export function ErrorView({ error }: { readonly error: ErrorItem }) {
  const stack = typeof error.stack === "string" ? error.stack : "";
  const { own, rest } = framesOf(stack);
  const more = [...own.slice(framesShown), ...rest];
  const code = typeof error.code === "string" ? error.code : null;
  const { message } = error;
  return (
    <div className="error-view">
      <p className="said">
        <bdi>{visibleBlock(message.slice(0, messageCharsShown))}</bdi>
        {message.length > messageCharsShown && "…"}
      </p>
      <p className="name mono">
        {visibleText(error.name)}
        {code !== null && ` · ${visibleText(code)}`}
      </p>
      {own.length > 0 && <Frames frames={own.slice(0, framesShown)} />}
      {more.length > 0 && (
        <details>
          <summary>
            {more.length} more {more.length === 1 ? "frame" : "frames"}
          </summary>
          <Frames frames={more} />
        </details>
      )}
      {error.cause !== undefined && error.cause !== null && <Cause cause={error.cause} />}
    </div>
  );
}

const Frames = ({ frames }: { readonly frames: readonly string[] }) => (
  <pre className="mono" dir="ltr">
    <bdi>{visibleBlock(frames.join("\n"))}</bdi>
  </pre>
);

function Cause({ cause }: { readonly cause: unknown }) {
  const { name, message } = (typeof cause === "object" ? cause : {}) as { name?: unknown; message?: unknown };
  const words =
    typeof message === "string" ? `${typeof name === "string" ? `${name}: ` : ""}${message}` : JSON.stringify(cause);
  return (
    <p className="quiet">
      Because: <bdi>{visibleText(String(words).slice(0, messageCharsShown))}</bdi>
    </p>
  );
}
