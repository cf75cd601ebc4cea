// Functions nobody verified, or verified for other code than is registered now. Hints: a function may be right without a verdict.
import type { FunctionConfig } from "../model/function-config.ts";
import {
  type PublishedVerdict,
  readVerdicts,
  verdictKind,
  verifiedCode,
  verifiedWith,
} from "../observe/published-verdicts.ts";
import { type Finding, times } from "../radar/finding.ts";
import type { Reading } from "./command.ts";
import { relative } from "./times.ts";

// Names say enough for a person to begin.
const listed = 20;

export async function examineVerdicts(
  { reads, env, nameOf, place }: Reading,
  configs: ReadonlyMap<string, FunctionConfig>,
  now: number,
): Promise<Finding[]> {
  const verdicts = readVerdicts(await reads.settings(env, verdictKind));
  const own = [...configs].filter(([, config]) => verifiedWith(config) === null);
  const never = own.filter(([fn]) => !verdicts.has(fn)).map(([fn]) => nameOf(fn));
  const published = own.flatMap(([fn, config]) => {
    const verdict = verdicts.get(fn);
    return verdict === undefined ? [] : { name: nameOf(fn), verdict, code: verifiedCode(verdict, config.fingerprint) };
  });
  // An address may hold a password.
  const where = place.kind === "file" ? `sqlite:${place.path}` : "postgres://…";
  const next = `idem verify <module> --from-store ${where} --publish ${where}`;
  const said = ({ name, verdict }: { readonly name: string; readonly verdict: PublishedVerdict }) =>
    `"${name}": ${verdict.verdict} in ${times(verdict.schedules, "schedule")}, ${relative(verdict.at, now)}`;
  const about = (kind: string, title: string, all: readonly string[], details: readonly string[]): Finding[] =>
    all.length === 0
      ? []
      : [
          {
            kind,
            level: "note",
            title,
            details: [
              ...details.slice(0, listed),
              ...(details.length > listed ? [`and ${details.length - listed} more`] : []),
            ],
            next,
            facts: { functions: all },
          },
        ];
  const older = published.filter(({ code }) => code === "changed");
  const wrong = published.filter(({ verdict, code }) => code !== "changed" && !isGood(verdict));
  return [
    ...about(
      "verdict-wrong",
      `idem verify found something in ${times(wrong.length, "function")}`,
      wrong.map(({ name }) => name),
      wrong.map(said),
    ),
    ...about(
      "never-verified",
      `${times(never.length, "function was", "functions were")} never verified`,
      never,
      never.map((name) => `"${name}"`),
    ),
    ...about(
      "verified-before",
      `The code of ${times(older.length, "function")} has changed since it was verified`,
      older.map(({ name }) => name),
      older.map(said),
    ),
  ];
}

const isGood = ({ verdict }: PublishedVerdict): boolean => verdict === "HELD" || verdict === "ACCEPTED";
