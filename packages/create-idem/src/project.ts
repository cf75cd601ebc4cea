// Every file of a project, by its path. Lint rules, scripts and the pipeline are put in by the plan of `idem init` itself.
import manifest from "../../idem/package.json" with { type: "json" };
import { planInit } from "../../idem/src/cli/init/plan.ts";
import { codeOf } from "./code.ts";
import { entryOf } from "./entry.ts";
import { type Form, layoutOf } from "./form.ts";
import { aroundOf } from "./manifest.ts";

export function projectOf(form: Form): ReadonlyMap<string, string> {
  const files = new Map(Object.entries({ ...aroundOf(form), ...codeOf(form), ...entryOf(form) }));
  const { folder } = layoutOf(form);
  const plan = planInit({
    read: (name) => files.get(name) ?? null,
    folder: "",
    lockFolder: "",
    manager: "npm",
    modules: [`${folder}/idem.ts`],
    others: [],
    // No parser and no compiler of its own, whatever TypeScript the project moves to.
    linter: "oxlint",
    version: manifest.version,
    peers: manifest.peerDependencies,
  });
  for (const { file, after } of plan.files) if (after !== null) files.set(file, after);
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
}
