// A payload, as text and only as text: a tree that can be searched, or as it is stored. It is shown from what is stored, never from numbers
// that were read and written again.
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo, useState } from "react";
import { getBeginning, getText, urlOf } from "../api/client.ts";
import { say } from "../frame/messages.ts";
import { Button } from "./button.tsx";
import { copyText } from "./copy.tsx";
import { ErrorPart } from "./error-part.tsx";
import { FilterText } from "./field.tsx";
import { Icon } from "./icon.tsx";
import { findInJson } from "./json-find.ts";
import { sliceAt } from "./json-text.ts";
import { FoundList, Value } from "./payload-tree.tsx";
import { sizeWords } from "./size-words.ts";
import { Skeleton } from "./skeleton.tsx";
import { visibleBlock } from "./visible-text.ts";
import "./payload.css";

// A browser draws this much without a pause; beyond it only the beginning is shown.
const treeBytesMax = 1024 * 1024;
const beginningBytes = 64 * 1024;
// Less is read at a glance and needs no search.
const searchedCharsMin = 300;
const foundShown = 50;

interface StoredPayloadProps {
  /** Its address in the API, where it comes byte for byte. */
  readonly path: string;
  readonly bytes: number;
  /** For the file it is saved as: "event-01JV…". */
  readonly name: string;
  /** Its name in expressions over runs, where one reaches it: `event.data`, `output`. */
  readonly root?: string;
}

/** A payload at its own address. */
export function StoredPayload({ path, bytes, name, root }: StoredPayloadProps) {
  const isLarge = bytes > treeBytesMax;
  const { data, error, refetch } = useQuery({
    queryKey: ["payload", path, isLarge],
    queryFn: ({ signal }) => (isLarge ? getBeginning(path, beginningBytes, signal) : getText(path, signal)),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (error !== null)
    return <ErrorPart error={error} what="The payload could not be read." onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton rows={3} />;
  const download = (
    <a className={`button is-${isLarge ? "plain" : "link"} is-small`} href={urlOf(path)} download={`${name}.json`}>
      <Icon name="download" size={14} />
      {isLarge ? `Download ${sizeWords(bytes)}` : "Download"}
    </a>
  );
  if (!isLarge) return <Payload text={data} root={root ?? null} download={download} />;
  return (
    <div className="payload">
      <pre className="mono">
        <bdi>{visibleBlock(data)}</bdi>
      </pre>
      <p className="hint">
        The first {sizeWords(beginningBytes)} of {sizeWords(bytes)}.
      </p>
      <div className="button-row">{download}</div>
    </div>
  );
}

interface PayloadProps {
  /** JSON as it is stored; what is no JSON is shown as it stands. */
  readonly text: string;
  readonly root: string | null;
  readonly download: ReactNode;
}

function Payload({ text, root, download }: PayloadProps) {
  const top = sliceAt(text);
  const [isRaw, setRaw] = useState(false);
  const [word, setWord] = useState("");
  const { found, hasMore } = useMemo(() => findInJson(text, word, foundShown), [text, word]);
  const isBroken = top.kind === "broken";
  const isBranch = top.kind === "object" || top.kind === "array";
  const copy = async () => {
    const done = await copyText(text);
    say(done ? "Copied the payload" : "This browser did not let the page copy. Select the text instead.", {
      brief: true,
    });
  };
  return (
    <div className="payload">
      {isBranch && !isRaw && text.length >= searchedCharsMin && (
        <FilterText label="Find in this payload" value={word} onChange={setWord} />
      )}
      {isRaw || isBroken ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys
        <pre className="mono" dir="ltr" tabIndex={0}>
          <bdi>{visibleBlock(isBroken ? text.slice(0, beginningBytes) : text)}</bdi>
        </pre>
      ) : (
        <div className={`tree mono${root === null ? "" : " is-filterable"}`} dir="ltr">
          {word.trim() === "" ? (
            <Value text={text} value={top} path={[]} root={root} />
          ) : found.length === 0 ? (
            <span className="faint">Nothing in it has this.</span>
          ) : (
            <FoundList text={text} found={found} root={root} />
          )}
          {hasMore && <span className="faint">The first {foundShown} of them.</span>}
        </div>
      )}
      <div className="button-row">
        <Button small look="link" onClick={() => void copy()}>
          <Icon name="copy" size={14} />
          Copy
        </Button>
        {!isBroken && (
          <Button small look="link" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
            Raw
          </Button>
        )}
        {download}
      </div>
    </div>
  );
}
