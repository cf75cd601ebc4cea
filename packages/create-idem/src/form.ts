// The parts of a project, as it was asked for.

export const templates = ["plain", "express", "hono", "next"] as const;
export const stores = ["sqlite", "postgres"] as const;

export type Template = (typeof templates)[number];
export type Store = (typeof stores)[number];

export interface Form {
  /** Of the package, and of its folder. */
  readonly name: string;
  readonly template: Template;
  readonly store: Store;
  /** The Node it is made with has no SQLite inside that is new enough (docs/decisions/0036-the-sqlite-that-is-there.md). */
  readonly needsDriver: boolean;
}

/** Where the code lies, and how one of its modules names another. */
export const layoutOf = ({ template }: Pick<Form, "template">) =>
  template === "next" ? { folder: "lib", js: "" } : { folder: "src", js: ".js" };

/** As the README of idem has it: 22.22.3, 24.15 and everything after. */
export function hasSqlite(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  if (major === 22) return minor > 22 || (minor === 22 && patch >= 3);
  return major === 24 ? minor >= 15 : major > 24;
}

/** Why a name cannot be one of a package; null where it can. https://docs.npmjs.com/cli/configuring-npm/package-json#name */
export function refusalOf(name: string): string | null {
  if (name === "") return "it is empty";
  if (name.length > 100) return "it is longer than 100 characters";
  if (!/^[a-z0-9][a-z0-9._-]*$/.test(name))
    return "a package's name is made of a-z, 0-9, dots, dashes and underscores, and begins with a letter or a digit";
  if (["node_modules", "favicon.ico", "idem", "create-idem"].includes(name)) return "that name is taken";
  return null;
}
