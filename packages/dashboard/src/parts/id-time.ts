// Ids of runs and events begin with the instant they were made at: 48 bits, in the ten letters of a ULID's head.

const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const timeChars = 10;

/** Null for an id of another make. */
export function timeOfId(id: string): number | null {
  const head = id.slice(0, timeChars).toUpperCase();
  if (head.length < timeChars || [...head].some((char) => !digits.includes(char))) return null;
  return [...head].reduce((sum, char) => sum * digits.length + digits.indexOf(char), 0);
}
