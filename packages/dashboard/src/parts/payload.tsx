// A payload, as text and only as text. It is shown from what is stored, never from numbers that were read and written again.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { getBeginning, getText, urlOf } from "../api/client.ts";
import { say } from "../frame/messages.ts";
import { Button } from "./button.tsx";
import { copyText } from "./copy.tsx";
import { ErrorPart } from "./error-part.tsx";
import { Icon } from "./icon.tsx";
import { entriesOf, type JsonSlice, sliceAt, stringOf } from "./json-text.ts";
import { Skeleton } from "./skeleton.tsx";
import { visibleBlock, visibleText } from "./visible-text.ts";
import "./payload.css";

// What a browser draws without a pause; beyond it only the beginning is shown.
const treeBytesMax = 1024 * 1024;
const beginningBytes = 64 * 1024;
const stringCharsShown = 400;
const entriesShown = 50;
const entriesMore = 1_000;

export function sizeWords(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${Number((bytes / 1024).toFixed(1))} KB`;
  return `${Number((bytes / 1024 / 1024).toFixed(1))} MB`;
}

interface StoredPayloadProps {
  /** Its address in the API, where it comes byte for byte. */
  readonly path: string;
  readonly bytes: number;
  /** For the file it is saved as: "event-01JV…". */
  readonly name: string;
}

/** A payload at its own address. */
export function StoredPayload({ path, bytes, name }: StoredPayloadProps) {
  const isLarge = bytes > treeBytesMax;
  const { data, error, refetch } = useQuery({
    queryKey: ["payload", path, isLarge],
    queryFn: ({ signal }) => (isLarge ? getBeginning(path, beginningBytes, signal) : getText(path, signal)),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (error !== null)
    return <ErrorPart error={error} what="The payload could not be read." onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton rows={3} />;
  if (!isLarge) return <Payload text={data} />;
  return (
    <div className="payload">
      <pre className="mono">
        <bdi>{visibleBlock(data)}</bdi>
      </pre>
      <p className="hint">
        The first {sizeWords(beginningBytes)} of {sizeWords(bytes)}.
      </p>
      <div className="button-row">
        <a className="button is-plain is-small" href={urlOf(path)} download={`${name}.json`}>
          <Icon name="download" size={14} />
          Download {sizeWords(bytes)}
        </a>
      </div>
    </div>
  );
}

/** `text` is JSON as it is stored; what is no JSON is shown as it stands. */
export function Payload({ text }: { readonly text: string }) {
  const top = sliceAt(text);
  return (
    <div className="payload">
      <div className="tree mono" dir="ltr">
        {top.kind === "broken" ? (
          <bdi>{visibleBlock(text.slice(0, beginningBytes))}</bdi>
        ) : (
          <Value text={text} value={top} isTop />
        )}
      </div>
      <div className="button-row">
        <Button
          small
          onClick={async () => {
            const done = await copyText(text);
            say(done ? "Copied the payload" : "This browser did not let the page copy. Select the text instead.", {
              brief: true,
            });
          }}
        >
          <Icon name="copy" size={14} />
          Copy
        </Button>
      </div>
    </div>
  );
}

function Value({
  text,
  value,
  isTop = false,
}: {
  readonly text: string;
  readonly value: JsonSlice;
  readonly isTop?: boolean;
}) {
  switch (value.kind) {
    case "object":
    case "array":
      return <Branch text={text} value={value} isTop={isTop} />;
    case "string":
      return <Text literal={text.slice(value.start, value.end)} />;
    default:
      return (
        <span className={`is-${value.kind}`}>
          {visibleText(text.slice(value.start, Math.min(value.end, value.start + stringCharsShown)))}
        </span>
      );
  }
}

function Text({ literal }: { readonly literal: string }) {
  const [isWhole, setWhole] = useState(false);
  const value = stringOf(literal);
  const isCut = value.length > stringCharsShown && !isWhole;
  return (
    <>
      <bdi className="is-string">
        {`"${visibleBlock(isCut ? value.slice(0, stringCharsShown) : value)}${isCut ? "…" : '"'}`}
      </bdi>
      {isCut && (
        <Button look="link" small onClick={() => setWhole(true)}>
          Show all ({sizeWords(literal.length)})
        </Button>
      )}
    </>
  );
}

function Branch({ text, value, isTop }: { readonly text: string; readonly value: JsonSlice; readonly isTop: boolean }) {
  const [isOpen, setOpen] = useState(isTop);
  const [shown, setShown] = useState(entriesShown);
  const [before, after] = value.kind === "object" ? ["{", "}"] : ["[", "]"];
  if (!isOpen) {
    const { count } = entriesOf(text, value, 0);
    if (count === 0) return <span>{`${before}${after}`}</span>;
    const noun = value.kind === "object" ? (count === 1 ? "field" : "fields") : count === 1 ? "entry" : "entries";
    return (
      <button type="button" className="open-branch" aria-expanded={false} onClick={() => setOpen(true)}>
        {before} {preview(text, value) ?? `${count} ${noun}`} {after}
      </button>
    );
  }
  const { entries, count } = entriesOf(text, value, shown);
  if (count === 0) return <span>{`${before}${after}`}</span>;
  return (
    <>
      {!isTop && (
        <button type="button" className="open-branch" aria-expanded={true} onClick={() => setOpen(false)}>
          {before}
        </button>
      )}
      <ul className={isTop ? "" : "is-inner"}>
        {entries.map((entry, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a name can stand twice in an object; its place cannot
          <li key={place}>
            <bdi className="name">{visibleText(String(entry.name).slice(0, stringCharsShown))}</bdi>
            <span className="value">
              <Value text={text} value={entry.value} />
            </span>
          </li>
        ))}
        {count > entries.length && (
          <li>
            <Button look="link" small onClick={() => setShown(shown + entriesMore)}>
              Show {count - entries.length > entriesMore ? `${entriesMore} more` : "all"} ({count} in all)
            </Button>
          </li>
        )}
      </ul>
      {!isTop && <span>{after}</span>}
    </>
  );
}

const previewChars = 60;

/** A small object is shown in its own words: { placementId: 48213 }. */
function preview(text: string, value: JsonSlice): string | null {
  if (value.end - value.start > previewChars || value.kind !== "object") return null;
  const { entries } = entriesOf(text, value, 4);
  const words = entries.map(
    ({ name, value: each }) =>
      `${name}: ${each.kind === "object" || each.kind === "array" ? "…" : text.slice(each.start, each.end)}`,
  );
  return visibleText(words.join(", "));
}
