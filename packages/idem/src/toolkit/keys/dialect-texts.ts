// A statement's text, made once per dialect: every call then hands the driver the same string, by which it finds what it prepared.
import { type Sql, sqlOf } from "../sql/operation.ts";

export function dialectTexts(write: (sql: Sql) => string): (sql: Sql) => string {
  const texts = { postgres: write(sqlOf("postgres")), sqlite: write(sqlOf("sqlite")) };
  return ({ dialect }) => texts[dialect];
}
