// A rule is a look at a file's model: it names what it found and where, and the change where that is certain.
import type { Rule } from "eslint";
import { type File, fileOf } from "./core/file.ts";
import type { Node } from "./core/syntax.ts";

export type Edit = { readonly range: readonly [number, number]; readonly text: string };

export interface Suggestion {
  readonly id: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly edits: readonly Edit[];
}

export interface Found {
  readonly node: Node;
  readonly id: string;
  readonly data?: Readonly<Record<string, string>>;
  /** Made without asking, by --fix. */
  readonly fix?: readonly Edit[] | null;
  /** Offered to a person. */
  readonly suggest?: Suggestion | null;
}

export interface RuleParts {
  readonly name: string;
  /** One sentence: what must hold. */
  readonly says: string;
  readonly messages: Readonly<Record<string, string>>;
  readonly fixes?: boolean;
  readonly suggests?: boolean;
  readonly options?: Rule.RuleMetaData["schema"];
  /** A file without durable functions and steps is looked at, too, where it contains this. */
  readonly everywhere?: RegExp;
  find(file: File, options: Readonly<Record<string, unknown>>, path: string): Iterable<Found>;
}

/** The page that is published beside the code: always of the version that speaks. */
const page = new URL("../docs/lint.md", import.meta.url).href;

/** Every file with a durable function or a step contains one of these: most files are not read any further. */
const durable = /createFunction|step|Step/;

export function defineRule({
  name,
  says,
  messages,
  fixes,
  suggests,
  options,
  everywhere,
  find,
}: RuleParts): Rule.RuleModule {
  return {
    meta: {
      type: "problem",
      docs: { description: says, url: `${page}#${name}` },
      messages: { ...messages },
      schema: options ?? [],
      ...(fixes === true && { fixable: "code" as const }),
      ...(suggests === true && { hasSuggestions: true }),
    },
    create: (context) => ({
      "Program:exit"() {
        const { text } = context.sourceCode;
        const isAsked = everywhere?.test(text) === true;
        if (!isAsked && !durable.test(text)) return;
        const file = fileOf(context.sourceCode);
        if (!isAsked && file.durable.functions.length === 0 && file.durable.steps.length === 0) return;
        const seen = new Set<string>();
        for (const found of find(file, (context.options[0] ?? {}) as Record<string, unknown>, context.filename)) {
          // A helper that two steps call is one line of code.
          const place = `${found.id} ${found.node.range.join()}`;
          if (seen.has(place)) continue;
          seen.add(place);
          context.report(described(found));
        }
      },
    }),
  };
}

function described({ node, id, data = {}, fix, suggest }: Found): Rule.ReportDescriptor {
  const made = (edits: readonly Edit[]) => (fixer: Rule.RuleFixer) =>
    edits.map(({ range, text }) => fixer.replaceTextRange([range[0], range[1]], text));
  return {
    node: node as never,
    messageId: id,
    data: { ...data },
    ...(fix && { fix: made(fix) }),
    ...(suggest && { suggest: [{ messageId: suggest.id, data: { ...suggest.data }, fix: made(suggest.edits) }] }),
  };
}
