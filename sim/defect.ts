// A deliberate defect, as changes to the text of the built engine. Where both stores have the rule, both lose it.

export interface Defect {
  readonly name: string;
  readonly patches: readonly { readonly file: string; readonly from: string; readonly to: string }[];
}

export const sqlite = (file: string): string => `store/sqlite/${file}.js`;
export const memory = (file: string): string => `store/memory/${file}.js`;
