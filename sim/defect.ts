// A deliberate defect, as changes to the text of the built engine. Where both stores have the rule, both lose it. The simulator has
// its own model of a real server and its driver, so a few defects are planted there.

export interface Defect {
  readonly name: string;
  readonly patches: readonly { readonly file: string; readonly from: string; readonly to: string }[];
}

export const sqlite = (file: string): string => `store/sqlite/${file}.js`;
/** Code both databases share. */
export const rules = (file: string): string => `store/rules/${file}.js`;
export const memory = (file: string): string => `store/memory/${file}.js`;
export const postgres = (file: string): string => `store/postgres/${file}.js`;
export const model = (file: string): string => `${modelFolder}/postgres/${file}.js`;

/** The folder of a simulator's copy, in the copy of an engine that it is planted with. */
export const modelFolder = "simulator";

/** The text with the defect in it. A defect that does not find its place, or two of them, proves nothing. */
export function planted(name: string, { file, from, to }: Defect["patches"][number], text: string): string {
  if (text.split(from).length === 2) return text.replace(from, () => to);
  throw new Error(`Defect "${name}" expects once in ${file}: ${from}; adapt it to the code`);
}
