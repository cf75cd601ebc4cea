// The data of an event while a person writes it. There is one text; the form and the JSON are two views of it, so nothing typed in one is
// missing in the other. Mistakes against the schema are shown before it is sent, once, and then it is theirs to send.
import { useEffect, useMemo, useRef, useState } from "react";
import { checkData, type Mistake, placeOf } from "./check-data.ts";
import type { Path } from "./json-edit.ts";
import { jsonMistake } from "./plain-fields.ts";
import { beginningOf, fieldsOf, type GroupShape } from "./schema-fields.ts";

export type EntryView = "form" | "json";

export interface DataEntry {
  readonly text: string;
  /** Another text, from anywhere. */
  readonly setText: (text: string) => void;
  /** The text with one field changed. */
  readonly edit: (text: string) => void;
  /** The fields of the schema; null where there is none to draw a form of. */
  readonly group: GroupShape | null;
  readonly view: EntryView;
  readonly setView: (view: EntryView) => void;
  /** Why the text cannot be read, which nothing can be sent with. */
  readonly unreadable: string | null;
  readonly mistakes: readonly Mistake[];
  /** Parts that are not JSON yet, by place: their last readable value stands in the text meanwhile. */
  readonly drafts: ReadonlyMap<string, string>;
  readonly setDraft: (path: Path, draft: string | null) => void;
  /** Every mistake is shown by now, what is missing too. */
  readonly isTold: boolean;
  /** True when there is something to tell first: nothing is to be sent this time. Told, it may be sent, once. */
  readonly tellFirst: () => boolean;
}

/** `first` is what an empty entry begins with where no schema says better. */
export function useDataEntry(schema: unknown, first: string): DataEntry {
  const [text, setText] = useState(first);
  const [view, setView] = useState<EntryView | null>(null);
  const [drafts, setDrafts] = useState<ReadonlyMap<string, string>>(new Map());
  const [isTold, setTold] = useState(false);
  const group = useMemo(() => fieldsOf(schema), [schema]);
  const begun = useRef(first);
  useEffect(() => {
    setTold(false);
    setDrafts(new Map());
    const beginning = group === null ? first : JSON.stringify(beginningOf(group), null, 2);
    // Only what nobody has touched is replaced.
    const untouched = begun.current;
    setText((now) => (now === untouched ? beginning : now));
    begun.current = beginning;
  }, [group, first]);

  const unreadable = useMemo(() => jsonMistake(text), [text]);
  const mistakes = useMemo(() => {
    if (group === null || unreadable !== null) return [];
    const unread = [...drafts.keys()].map((place): Mistake => {
      const path = JSON.parse(place) as Path;
      return { path, words: "This is not JSON yet; what stood there before would be sent", isMissing: false };
    });
    return [...checkData(group, text).filter(({ path }) => !drafts.has(placeOf(path))), ...unread];
  }, [group, text, unreadable, drafts]);
  return {
    text,
    setText: (next) => {
      setText(next);
      setDrafts(new Map());
    },
    edit: setText,
    group,
    view: view ?? (group === null ? "json" : "form"),
    setView,
    unreadable,
    mistakes,
    drafts,
    setDraft: (path, draft) =>
      setDrafts((now) => {
        const next = new Map(now);
        if (draft === null) next.delete(placeOf(path));
        else next.set(placeOf(path), draft);
        return next;
      }),
    isTold: isTold && mistakes.length > 0,
    tellFirst: () => {
      const isNews = !isTold && mistakes.length > 0;
      setTold(isNews);
      return isNews;
    },
  };
}
