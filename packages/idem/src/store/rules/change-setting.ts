// A setting is put, replaced or removed. Repeat: the same value changes nothing.
import {
  auditedAs,
  changeSetting,
  isDecidedBy,
  type SettingAnswer,
  type SettingInput,
  type SettingRow,
} from "../settings.ts";
import type { RuleTransaction } from "./database.ts";
import { nextRegistration, registrationTurn } from "./register-functions.ts";
import type { Rule } from "./rule.ts";

const selectSettingSql = "select value, version from settings where env = ? and kind = ? and name = ?";
const writeSettingSql = `
  insert into settings (env, kind, name, value, version, changed_at) values (?, ?, ?, ?, ?, ?)
  on conflict (env, kind, name) do update
     set value = excluded.value, version = excluded.version, changed_at = excluded.changed_at`;
const deleteSettingSql = "delete from settings where env = ? and kind = ? and name = ?";

export function* changeSettingRow(tx: RuleTransaction, input: SettingInput): Rule<SettingAnswer> {
  const { env, kind, name, value, reason, actor } = input;
  // A row that is not there yet cannot be locked.
  yield* tx.turn(`settings:${env}`);
  const { answer, write } = changeSetting(yield* tx.one<SettingRow>(selectSettingSql, env, kind, name), input);
  if (!write) return answer;
  // Settings may hold secrets.
  tx.secretly(() => {
    if (value === null) tx.write(deleteSettingSql, env, kind, name);
    else tx.write(writeSettingSql, env, kind, name, value, answer.version, tx.at.now);
  });
  if (isDecidedBy(kind)) {
    yield* tx.turn(registrationTurn(env));
    yield* nextRegistration(tx, env);
  }
  if (reason !== null) tx.audit(env, { ...auditedAs(input), reason, actor });
  return answer;
}
