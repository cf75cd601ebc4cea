// A payload as a tree that opens one level at a time. A value can lead to the runs that have the same.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";
import { equalityOf, type Found, type JsonPath, pathWords } from "./json-find.ts";
import { entriesOf, type JsonSlice, stringOf } from "./json-text.ts";
import { sizeWords } from "./size-words.ts";
import { visibleBlock, visibleText } from "./visible-text.ts";

const stringCharsShown = 400;
const entriesShown = 50;
const entriesMore = 1_000;

interface Where {
  readonly text: string;
  readonly value: JsonSlice;
  readonly path: JsonPath;
  /** The payload's name in expressions over runs: `event.data`, `output`; null where none reaches it. */
  readonly root: string | null;
}

export function Value(props: Where) {
  const { text, value } = props;
  if (value.kind === "object" || value.kind === "array") return <Branch {...props} />;
  return (
    <>
      {value.kind === "string" ? (
        <Text literal={text.slice(value.start, value.end)} />
      ) : (
        <span className={`is-${value.kind}`}>
          {visibleText(text.slice(value.start, Math.min(value.end, value.start + stringCharsShown)))}
        </span>
      )}
      <FilterBy {...props} />
    </>
  );
}

/** Leads to the runs in which this value is the same. */
function FilterBy({ text, value, path, root }: Where) {
  const cel = root === null ? null : equalityOf(root, path, text, value);
  if (cel === null) return null;
  return (
    <Link
      className="filter-by"
      to="/runs"
      search={{ cel }}
      title={`Runs where ${cel}`}
      aria-label={`Runs where ${visibleText(cel)}`}
    >
      <Icon name="search" size={12} />
    </Link>
  );
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

function Branch({ text, value, path, root }: Where) {
  const isTop = path.length === 0;
  const [isOpen, setOpen] = useState(isTop);
  const [shown, setShown] = useState(entriesShown);
  const [before, after] = value.kind === "object" ? ["{", "}"] : ["[", "]"];
  if (!isOpen) {
    const { count } = entriesOf(text, value, 0);
    if (count === 0) return <span>{`${before}${after}`}</span>;
    return (
      <button type="button" className="open-branch" aria-expanded={false} onClick={() => setOpen(true)}>
        {before} {previewOf(text, value)} {after}
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
              <Value text={text} value={entry.value} path={[...path, entry.name]} root={root} />
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

/** The finds, each with the way to it. */
export function FoundList({
  text,
  found,
  root,
}: {
  readonly text: string;
  readonly found: readonly Found[];
  readonly root: string | null;
}) {
  return (
    <ul>
      {found.map(({ path, value }) => (
        <li key={pathWords(path)}>
          <bdi className="name">{visibleText(pathWords(path))}</bdi>
          <span className="value">
            <Value text={text} value={value} path={path} root={root} />
          </span>
        </li>
      ))}
    </ul>
  );
}

const previewChars = 60;
const previewEntries = 5;

/** A branch in its own words, as far as they go: `placementId: 48213, client: "Van Dijk…", 9 more`. */
export function previewOf(text: string, value: JsonSlice): string {
  const { entries, count } = entriesOf(text, value, previewEntries);
  const shown: string[] = [];
  let room = previewChars;
  for (const { name, value: each } of entries) {
    const isBranch = each.kind === "object" || each.kind === "array";
    const literal = isBranch ? "…" : text.slice(each.start, Math.min(each.end, each.start + previewChars));
    const words = typeof name === "number" ? literal : `${name}: ${literal}`;
    if (words.length > room && shown.length > 0) break;
    shown.push(words.length > room ? `${words.slice(0, room)}…` : words);
    room -= words.length + 2;
    if (room < 4) break;
  }
  const left = count - shown.length;
  return visibleText([...shown, ...(left > 0 ? [`${left} more`] : [])].join(", "));
}
