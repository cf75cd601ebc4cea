// Sessions of an event: what groups runs that belong together (docs/reference/wire.md#sessions). The sender's own layer lies over the
// one its SDK copied from the run it sends from: a value replaces, null cuts one, null for the whole field cuts all.
import { errors } from "../model/errors.ts";
import { isJsonObject } from "../model/json.ts";

const sessionsMax = 5;
const keyBytesMax = 128;
const idBytesMax = 512;

/** `meta` with one layer of sessions: what both together mean. */
export function mergeSessions(meta: unknown, where: string): unknown {
  if (!isJsonObject(meta)) throw errors.EVENT_INVALID({ where, why: "meta must be an object" });
  const { sessions, propagated_sessions: propagated, ...rest } = meta;
  const own = readLayer(sessions, "meta.sessions", where);
  const inherited = sessions === null ? [] : readLayer(propagated, "meta.propagated_sessions", where);
  const kept = [...own].filter(([, id]) => id !== null);
  if (kept.length > sessionsMax) {
    throw errors.EVENT_INVALID({ where, why: `meta.sessions has ${kept.length} sessions, more than ${sessionsMax}` });
  }
  // The sender chose its own; of the copied ones as many as there is room for, always the same.
  const copied = [...inherited]
    .filter(([key, id]) => !own.has(key) && id !== null)
    .sort(([a], [b]) => Buffer.compare(bytes(a), bytes(b)));
  const all = [...kept, ...copied].slice(0, sessionsMax);
  return all.length === 0 ? rest : { ...rest, sessions: Object.fromEntries(all) };
}

function readLayer(layer: unknown, field: string, where: string): Map<string, string | null> {
  const refuse = (why: string) => errors.EVENT_INVALID({ where, why });
  if (layer === undefined || layer === null) return new Map();
  if (!isJsonObject(layer)) throw refuse(`${field} must be an object`);
  return new Map(
    Object.entries(layer).map(([key, id]): [string, string | null] => {
      if (key === "" || bytes(key).length > keyBytesMax) {
        throw refuse(`a key of ${field} has ${bytes(key).length} bytes; 1 to ${keyBytesMax} are allowed`);
      }
      if (id === null) return [key, null];
      const isFine = typeof id === "string" || (typeof id === "number" && Number.isFinite(id));
      if (!isFine) throw refuse(`${field} "${key}" must be a string, a number or null`);
      const text = String(id);
      if (text === "" || bytes(text).length > idBytesMax) {
        throw refuse(`${field} "${key}" has ${bytes(text).length} bytes; 1 to ${idBytesMax} are allowed`);
      }
      return [key, text];
    }),
  );
}

const bytes = (text: string): Buffer => Buffer.from(text);
