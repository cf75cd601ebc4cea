// A setting is put, replaced or removed. Repeat: the same value changes nothing.
import { auditedAs, changeSetting, isDecidedBy, type SettingAnswer, type SettingInput } from "../settings.ts";
import type { Moment, Tables } from "./tables.ts";

export function changeSettingRow(tables: Tables, at: Moment, input: SettingInput): SettingAnswer {
  const { kind, name, value, reason, actor } = input;
  const id = JSON.stringify([kind, name]);
  const { answer, write } = changeSetting(tables.settings.get(id), input);
  if (!write) return answer;
  if (value === null) tables.settings.delete(id);
  else tables.settings.put(id, { kind, name, value, version: answer.version, changedAt: at.now });
  if (isDecidedBy(kind)) tables.meta.put("registration", tables.registration + 1);
  if (reason !== null) tables.addAudit(at, { ...auditedAs(input), reason, actor });
  return answer;
}
