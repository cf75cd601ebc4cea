// The beginning of what came out of a run, as a person would say it: of an open run, what its code made last.
import { visibleText } from "../../parts/visible-text.ts";
import type { GroupedRun } from "./groups-data.ts";

type Shown = Pick<GroupedRun, "preview" | "previewStep" | "state" | "attempt">;

const unquoted = (literal: string): string => {
  try {
    return String(JSON.parse(literal));
  } catch {
    return literal;
  }
};

const text = /^"((?:[^"\\]|\\.)*)"?$/;
const oneField = /^\{"(?:[^"\\]|\\.)*":("(?:[^"\\]|\\.)*"|[^,{}[\]"]+)\}$/;
const ownId = /^\{"id":("(?:[^"\\]|\\.)*"|\d+)[,}]/;
const message = /"message":("(?:[^"\\]|\\.)*"?)/;

/** The beginning of an output as a person would say it: `in_1RPq8xA7` for `{"invoice":"in_1RPq8xA7"}` and for `{"id":"in_1RPq8xA7",…`. */
export function previewWords({ preview, state, attempt }: Shown): string {
  if (state === "failed") {
    const found = preview === null ? null : message.exec(preview)?.[1];
    if (found != null) return unquoted(found.endsWith('"') ? found : `${found}"`);
    if (attempt !== null) return attempt.error;
  }
  if (preview === null || preview === "null") return "";
  const only = (oneField.exec(preview) ?? ownId.exec(preview))?.[1];
  if (only !== undefined) return only.startsWith('"') ? unquoted(only) : only;
  return text.test(preview) ? unquoted(preview.endsWith('"') ? preview : `${preview}"`) : preview;
}

/** For people who cannot see that the run is open: it is no output yet. */
export const madeBy = (step: string): string => visibleText(`So far, by step ${step}:`);

export function previewTitle(run: Shown): string {
  const words = visibleText(previewWords(run));
  return run.previewStep === null || words === "" ? words : `${madeBy(run.previewStep)} ${words}`;
}
