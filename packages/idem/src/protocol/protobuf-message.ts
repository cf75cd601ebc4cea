// Protobuf messages described by a table of their fields, written and read with the wire format's own reader and writer.
// Unknown fields are skipped, as the format wants; an unreadable message is one error. As in proto3, a field that has
// its default is not written, and one that was not written reads as its default.
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** The bytes are no message, or not of this kind. */
export class MalformedMessageError extends Error {
  override readonly name = "MalformedMessageError";
}

interface Field<T> {
  readonly number: number;
  readonly wireType: WireType;
  readonly initial: () => T;
  readonly isInitial: (value: T) => boolean;
  readonly write: (writer: BinaryWriter, value: T) => void;
  /** `before` is what the field had: lists grow, everything else is replaced. */
  readonly read: (reader: BinaryReader, before: T) => T;
}

// biome-ignore lint/suspicious/noExplicitAny: fields of all types in one record
type Fields = Record<string, Field<any>>;
type ValueOf<F extends Fields> = { readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never };

export interface Message<T> {
  /** Left-out fields have their default. */
  encode(value: Partial<T>): Uint8Array<ArrayBuffer>;
  /** Throws MalformedMessageError. */
  decode(bytes: Uint8Array): T;
}

export type MessageValue<M> = M extends Message<infer T> ? T : never;

// A worker has at most 100 apps, and answers at most as many calls as an environment has runs in flight.
const listItemsMax = 10_000;

export const text = (number: number): Field<string> => ({
  number,
  wireType: WireType.LengthDelimited,
  initial: () => "",
  isInitial: (value) => value === "",
  write: (writer, value) => writer.string(value),
  read: (reader) => reader.string(),
});

export const bytes = (number: number): Field<Uint8Array> => ({
  number,
  wireType: WireType.LengthDelimited,
  initial: () => new Uint8Array(0),
  isInitial: (value) => value.length === 0,
  write: (writer, value) => writer.bytes(value),
  read: (reader) => reader.bytes(),
});

export const bool = (number: number): Field<boolean> => ({
  number,
  wireType: WireType.Varint,
  initial: () => false,
  isInitial: (value) => !value,
  write: (writer, value) => writer.bool(value),
  read: (reader) => reader.bool(),
});

const numeric = (number: number, kind: "int32" | "uint32" | "int64"): Field<number> => ({
  number,
  wireType: WireType.Varint,
  initial: () => 0,
  isInitial: (value) => value === 0,
  write: (writer, value) => writer[kind](value),
  read: (reader) => safeInteger(reader[kind]()),
});

export const int32 = (number: number): Field<number> => numeric(number, "int32");
export const uint32 = (number: number): Field<number> => numeric(number, "uint32");
export const int64 = (number: number): Field<number> => numeric(number, "int64");

/** A field that tells "not there" (null) from its default. */
export const optional = <T>(field: Field<T>): Field<T | null> => ({
  ...field,
  initial: () => null,
  isInitial: (value) => value === null,
  write: (writer, value) => field.write(writer, value as T),
  read: (reader, before) => field.read(reader, before ?? field.initial()),
});

export const list = <T>(field: Field<T>): Field<readonly T[]> => ({
  number: field.number,
  wireType: field.wireType,
  initial: () => [],
  isInitial: (value) => value.length === 0,
  write: (writer, values) => {
    for (const [at, value] of values.entries()) {
      // The first item's tag is written by the message.
      if (at > 0) writer.tag(field.number, field.wireType);
      field.write(writer, value);
    }
  },
  read: (reader, before) => {
    if (before.length >= listItemsMax) throw new MalformedMessageError(`a list has more than ${listItemsMax} items`);
    // Read into the same list: copying it for each item would take quadratic time.
    (before as T[]).push(field.read(reader, field.initial()));
    return before;
  },
});

/** A message inside a message. On its own it is always optional: without that it could not be told from an empty one. */
export const nested = <T>(number: number, inner: Message<T>): Field<T> => ({
  number,
  wireType: WireType.LengthDelimited,
  initial: () => inner.decode(new Uint8Array(0)),
  isInitial: () => false,
  write: (writer, value) => writer.bytes(inner.encode(value as Partial<T>)),
  read: (reader) => inner.decode(reader.bytes()),
});

export function message<F extends Fields>(fields: F): Message<ValueOf<F>> {
  const inOrder = Object.entries(fields).sort(([, a], [, b]) => a.number - b.number);
  const byNumber = new Map(inOrder.map(([name, field]) => [field.number, { name, field }]));
  return {
    encode(value) {
      const writer = new BinaryWriter();
      for (const [name, field] of inOrder) {
        const given = value[name as keyof F];
        if (given === undefined || field.isInitial(given)) continue;
        field.write(writer.tag(field.number, field.wireType), given);
      }
      return writer.finish();
    },
    decode(input) {
      const value: Record<string, unknown> = {};
      for (const [name, field] of inOrder) value[name] = field.initial();
      try {
        readFields(new BinaryReader(input), byNumber, value);
      } catch (error) {
        if (error instanceof MalformedMessageError) throw error;
        throw new MalformedMessageError(error instanceof Error ? error.message : String(error), { cause: error });
      }
      return value as ValueOf<F>;
    },
  };
}

function readFields(
  reader: BinaryReader,
  byNumber: ReadonlyMap<number, { name: string; field: Fields[string] }>,
  value: Record<string, unknown>,
): void {
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    // Groups are gone from proto3; skipping one means following its nesting.
    if (wireType === WireType.StartGroup || wireType === WireType.EndGroup) {
      throw new MalformedMessageError(`field ${number} is a group`);
    }
    const known = byNumber.get(number);
    if (known === undefined || known.field.wireType !== wireType) reader.skip(wireType, number);
    else value[known.name] = known.field.read(reader, value[known.name]);
  }
  if (reader.pos > reader.len) throw new MalformedMessageError("it ends in the middle of a field");
}

function safeInteger(value: number | bigint | string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new MalformedMessageError(`${value} is too large a number`);
  return number;
}
