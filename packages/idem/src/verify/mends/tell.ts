// A mend in words and, where the edit is certain, as lines of the user's source.

import { knownHost } from "../known-hosts.ts";
import type { Mend } from "../report.ts";
import type { Place, SeenEffect } from "../thing.ts";
import type { Change } from "./change.ts";
import { functionKeyEdits, stepKeyEdits } from "./edit-source.ts";
import { hostOf, takesKey } from "./propose.ts";

export interface TellAbout {
  readonly fnId: string;
  readonly effect: SeenEffect | null;
  readonly drawn: readonly { readonly what: "clock" | "chance"; readonly place: Place }[];
  /** Null where it cannot be read. */
  readonly readSource: (file: string) => string | null;
  readonly modules: readonly string[];
}

export function tellMend(changes: readonly Change[], about: TellAbout): Mend {
  const told = changes.map((each) => tellChange(each, about));
  return { text: told.map(({ text }) => text).join(" "), edits: told.flatMap(({ edits }) => edits) };
}

const words = (text: string): Mend => ({ text, edits: [] });

function tellChange(change: Change, about: TellAbout): Mend {
  switch (change.kind) {
    case "function-key": {
      const text = `Give the function a key that is the same for one thing and another for each other: idempotency: ${JSON.stringify(change.expression)}.`;
      return { text, edits: functionKeyEdits(about.fnId, change.expression, about) };
    }
    case "awaited":
      return words(
        `Wait in the step for ${about.effect?.title ?? "what it began"}, and let the step throw where that is refused or not answered: then it is tried again.`,
      );
    case "drawn-in-step":
      return words(tellDrawn(change.what, about));
    case "effect":
      return tellEffect(change, about);
  }
}

function tellDrawn(what: "clock" | "chance", { drawn, readSource }: TellAbout): string {
  const found = drawn.find((each) => each.what === what)?.place;
  const line = found === undefined ? undefined : readSource(found.file)?.split("\n")[found.line - 1];
  const expression = line === undefined ? null : expressionAt(line, found!.column - 1);
  const name = expression ?? (what === "clock" ? "the time" : "chance");
  const where = found === undefined ? "" : ` in line ${found.line}`;
  return `Outside steps ${name}${where} is another each time the code is entered. Draw it in a step, once: await step.run("draw", () => ${expression ?? "…"}).`;
}

const drawing =
  /(?:new Date\(\)|Date\.now\(\)|Math\.random\(\)|(?:crypto\.)?random[A-Za-z]+\([^()]*\)|performance\.now\(\))/g;

/** The expression that draws, at this place or the nearest after it. */
function expressionAt(line: string, column: number): string | null {
  const all = [...line.matchAll(drawing)];
  const here = all.find(({ index, 0: text }) => index + text.length > column) ?? all[0];
  return here?.[0] ?? null;
}

function tellEffect({ step, by }: Extract<Change, { kind: "effect" }>, { effect, readSource }: TellAbout): Mend {
  if (effect === null) return words("");
  const host = hostOf(effect.title);
  const known = knownHost(host);
  const own =
    step === "same"
      ? ""
      : effect.step === null
        ? "Move it into a step of its own (step.run), which is recorded when it is done. "
        : `Step "${effect.step}" has more than one effect: give each a step of its own. `;
  if (effect.watcher === "sql") {
    return words(
      `${own}${effect.title} writes again when its step runs again. Let the rows and that the step is done be one commit (step.transaction with your database's adapter), or write so that a second time changes nothing (upsert, findOrCreate): docs/databases.md.`,
    );
  }
  if (by === "look-up") {
    return words(
      `${own}${known?.name ?? effect.title} takes no key: send it by step.effect with a reconcile that looks it up, or write to the sent-log first (docs/effects.md, docs/sent-log.md).`,
    );
  }
  const how =
    known === null
      ? `as its Idempotency-Key, if ${host} takes one; if it takes none, send it by step.effect with a reconcile`
      : `as ${known.name} takes it: destination(${JSON.stringify(known.name)}).${known.place?.kind === "field" ? "fields" : "headers"}(context)`;
  const wrong = effect.key === null ? "sends no key" : "sends a key that is not the step's";
  const told = `${own}${effect.title} ${wrong}. Pass the step's own key, ${how}.`;
  if (step === "own" || takesKey(effect) === "none") return words(told);
  return { text: told, edits: stepKeyEdits(effect, known, readSource) };
}
