import { describe, expect, test } from "vitest";
import { tellAbsent, usesField } from "./absent-fields.ts";
import type { AbsentField } from "./thing.ts";

const place = (line: number, column: number) => ({ file: "/f.ts", line, column });

/** As the stack has it: the column of the name. */
const uses = (line: string, name: string): boolean => {
  const at = line.indexOf(`.${name}`);
  return usesField(line.split("\n"), place(1, at === -1 ? line.indexOf(name) + 1 : at + 2), name);
};

describe("a field that nobody gave", () => {
  test.each([
    ['if (client.plan === "gold") return;', "plan"],
    ["const { plan } = await found.json();", "plan"],
    ["const { plan: tier } = client;", "plan"],
    ["body: JSON.stringify({ plan: client.plan }),", "plan"],
    ["return answer.customer.plan;", "customer"],
    ["if (client.isVip) await gift();", "isVip"],
    ["if (!client.ok) throw new Error();", "ok"],
    ["const plan = client.plan;", "plan"],
    ["const total = order.total > 100 ? 1 : 2;", "total"],
  ])("is gone on with: %s", (line, name) => {
    expect(uses(line, name)).toBe(true);
  });

  test.each([
    ["if (body.error) throw new Error(body.error.message);", "error"],
    ["if (body.errorMessage) throw new Error();", "errorMessage"],
    ["while (page.has_more) page = await next(page);", "has_more"],
    ["const { tags = [] } = await found.json();", "tags"],
    ["const { tags: all = [] } = await found.json();", "tags"],
    ["const points = (await found.json()).points ?? 0;", "points"],
    ["const points = client.points\n  ?? 0;", "points"],
    ['const name = client.name || "nobody";', "name"],
    ["const plan = client.customer?.plan;", "customer"],
    ["if (client.plan === undefined) throw new Error();", "plan"],
    ["if (null != client.plan) return;", "plan"],
    ['if (typeof client.plan === "string") return;', "plan"],
    ["const plan = (client.plan as string | undefined) ?? 1;", "plan"],
  ])("is only asked for: %s", (line, name) => {
    expect(uses(line, name)).toBe(false);
  });

  test("is nobody's where the line does not have its name", () => {
    expect(usesField(["for (const name of names) copy[name] = body[name];"], place(1, 48), "plan")).toBe(false);
    expect(usesField([], place(1, 1), "plan")).toBe(false);
  });
});

test("fields of one answer are told together, with the fixture to write down", () => {
  const read = (field: string, path = "/clients/*"): AbsentField => ({
    method: "GET",
    host: "crm.example",
    path,
    field,
    place: place(3, 1),
    isUsed: true,
  });
  expect(tellAbsent([read("plan"), read("address.city"), read("plan"), read("find", "/tags")])).toEqual([
    {
      thing:
        'the answer of GET crm.example/clients/* is read for `plan`, `address.city`, which nobody gave: write it down among the fixtures of idem.verify.ts, { method: "GET", host: "crm.example", path: "/clients/*", body: { plan: …, address: … } }',
      place: place(3, 1),
    },
    {
      thing: expect.stringMatching(/^the answer of GET crm\.example\/tags is read as a list, .*body: \[ … \]/),
      place: place(3, 1),
    },
  ]);
});
