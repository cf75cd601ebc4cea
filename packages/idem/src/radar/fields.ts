// The subject of a payload's fields, judged by their names and values: an identity, an amount, a time, or the delivery
// itself. Only names and shapes are known here, so everything built on it is a suggestion for a person.

export interface Field {
  /** As an expression writes it: `event.data.placementId`. */
  readonly path: string;
  /** The last name of the path. */
  readonly name: string;
  readonly value: string | number | boolean | null;
}

// Identities live near the top of a payload; deeper values belong to lists and snapshots.
const depthMax = 4;
const fieldsMax = 100;
const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The plain values of `event.data`, lists left out: a key cannot name "one of them". */
export function fieldsOf(data: unknown): Field[] {
  const found: Field[] = [];
  const walk = (value: unknown, path: string, name: string, depth: number): void => {
    if (found.length >= fieldsMax || Array.isArray(value)) return;
    if (typeof value === "object" && value !== null) {
      if (depth >= depthMax) return;
      for (const [key, inner] of Object.entries(value)) {
        walk(inner, identifier.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`, key, depth + 1);
      }
      return;
    }
    if (name !== "") found.push({ path, name, value: value as Field["value"] });
  };
  walk(data, "event.data", "", 0);
  return found;
}

/** "invoiceTotalAmount" → "amount"; "order_id" → "id". */
const lastWord = (name: string): string =>
  (name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g)?.at(-1) ?? name).toLowerCase();

const idWords = new Set(["id", "ids", "number", "no", "nr", "uuid", "guid", "ulid", "reference", "ref", "key", "code"]);
const amountWords = new Set(
  "amount total subtotal price quantity qty sum cost fee rate balance tax discount charge cents value hours net gross salary".split(
    " ",
  ),
);
const timeWords = new Set(["at", "time", "timestamp", "date", "ts", "datetime", "now", "on"]);
const delivery =
  /^(event|message|request|req|delivery|trace|span|correlation|webhook|log|job|attempt|batch|nonce)_?(id|uuid|key|number)?$/i;

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
// cus_NffrFeUfNV2Hib, ord-2231, INV2024-001
const prefixedId = /^[A-Za-z]{2,12}[_-][A-Za-z0-9_-]*\d[A-Za-z0-9_-]*$/;

export const isTime = ({ name, value }: Field): boolean =>
  timeWords.has(lastWord(name)) || (typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(value));

/** Made anew for each delivery: it tells two deliveries of one thing apart, which is what a key must not do. */
export const isDelivery = ({ name }: Field): boolean => delivery.test(name);

export function isIdentity(field: Field): boolean {
  const { name, value } = field;
  if (typeof value === "number" ? !Number.isSafeInteger(value) : typeof value !== "string" || value === "")
    return false;
  if (isTime(field) || isAmount(field)) return false;
  if (idWords.has(lastWord(name))) return true;
  return typeof value === "string" && value.length <= 128 && (uuid.test(value) || prefixedId.test(value));
}

export const isAmount = ({ name, value }: Field): boolean =>
  namesAmount(name) && (typeof value === "number" || typeof value === "string");

export const namesAmount = (name: string): boolean => amountWords.has(lastWord(name));

/** `event.data["total amount"]` → "total amount" */
export const lastNameOf = (path: string): string => /([^.[\]"]+)"?\]?$/.exec(path)?.[1] ?? path;

/** "placementId" → "placements"; "" when the name says nothing, as "id" does. */
export function entitiesOf(name: string): string {
  const stem = name.replace(/[_-]?(id|number|no|nr|uuid|guid|ulid|reference|ref|key|code)$/i, "");
  if (stem === "" || stem === name) return `values of ${name}`;
  const words = stem
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll(/[_-]+/g, " ")
    .toLowerCase();
  if (/[^aeiou]y$/.test(words)) return `${words.slice(0, -1)}ies`;
  return /(s|x|ch|sh)$/.test(words) ? `${words}es` : `${words}s`;
}

const sayingNothing = /^(id|ids|key|number|no|nr|uuid|guid|ulid|reference|ref|code|value|name|data)$/i;

/** `event.data.placementId` → "placement"; "" when the name says nothing. */
export function entityOf(expression: string): string {
  const name = /([A-Za-z_][A-Za-z0-9_]*)\W*$/.exec(expression)?.[1] ?? "";
  if (/ \+ /.test(expression) || name === "") return "";
  const many = entitiesOf(name);
  // "payment" is a thing by itself; "id" and "key" say nothing.
  if (many.startsWith("values of "))
    return sayingNothing.test(name) ? "" : name.replaceAll(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  if (many.endsWith("ies")) return `${many.slice(0, -3)}y`;
  return /(s|x|ch|sh)es$/.test(many) ? many.slice(0, -2) : many.slice(0, -1);
}
