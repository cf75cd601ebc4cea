// All that Idem needs of a schema, whichever library it was written with (standardschema.dev): one property, known by its shape. Written down here, so that
// types are not a package to install.

export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    /** Never there: for the compiler. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The type of its input, before it changes anything. */
export type InputOfSchema<Schema extends StandardSchema> = NonNullable<Schema["~standard"]["types"]>["input"];

/** A schema that can also say itself as JSON Schema, of what may be given to it. */
export interface StandardJsonSchema {
  readonly "~standard": {
    readonly jsonSchema: { readonly input: (options: JsonSchemaOptions) => Record<string, unknown> };
  };
}

export interface JsonSchemaOptions {
  readonly target: "draft-2020-12" | "draft-07";
  readonly libraryOptions?: Readonly<Record<string, unknown>>;
}
