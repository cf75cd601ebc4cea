// The code that every project has: a function with a key, what it calls, and a test that delivers its event twice.
import { type Form, layoutOf } from "./form.ts";

const functions = `import type { Idem } from "idem";

/** What happens outside. It is handed in, so that a test can count it. */
export interface Outside {
  charge(orderId: number, key: string): Promise<string>;
}

export function defineFunctions(idem: Idem, outside: Outside): void {
  idem.createFunction(
    // One run for an order, however often its event arrives.
    { id: "confirm-order", idempotency: "event.data.orderId" },
    { event: "order/placed" },
    async ({ event, step }) => {
      // Recorded: once it is done it is never entered again. If the process dies in the middle it is, with the same key.
      const charge = await step.run("charge", ({ key }) => outside.charge(event.data.orderId, key));
      await step.sleep("cool-off", "1s"); // or "30d": a sleeping run is a row in the store
      return charge;
    },
  );
}
`;

const payments = `import type { Outside } from "./functionsJS";

/** Your payment provider. It is given the step's key: asked twice, it charges once. */
export const payments: Outside = {
  async charge(orderId, key) {
    console.log(\`charging order \${orderId}\`);
    const url = process.env.PAYMENTS_URL;
    if (url === undefined) return \`charge-\${orderId}\`; // no provider yet
    const answer = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": key },
      body: JSON.stringify({ orderId }),
    });
    if (!answer.ok) throw new Error(\`the provider answered \${answer.status}\`); // the step is tried again
    return ((await answer.json()) as { id: string }).id;
  },
};
`;

const test = `import { deliverTwice, testIdem } from "idem/testing";
import { expect, test } from "vitest";
import { defineFunctions } from "./functionsJS";

test("an order that is placed twice is charged once", async () => {
  const charged: number[] = [];
  const { idem, clock } = testIdem(); // a store in memory, a clock that moves when told
  defineFunctions(idem, {
    async charge(orderId) {
      charged.push(orderId);
      return "charge-1";
    },
  });
  await idem.start();

  const event = { name: "order/placed", data: { orderId: 7 } };
  const { started, suppressed } = await deliverTwice(idem, event, { how: "at-once" });
  await clock.advanceToEnd();

  expect(started).toHaveLength(1);
  expect(suppressed).toMatchObject([{ kind: "duplicate-key", runId: started[0] }]);
  expect(charged).toEqual([7]);
  await idem.stop();
});
`;

const verify = (
  folder: string,
  { store }: Form,
) => `// For idem verify: if this ran twice, would there be two of something?
export default {
  modules: ["${folder}/idem.ts"],
  env: { PAYMENTS_URL: "https://payments.example/charges"${store === "postgres" ? ', DATABASE_URL: "postgres://localhost/verified"' : ""} }, // nothing leaves: calls are watched, and answered
  functions: {
    "confirm-order": { event: { name: "order/placed", data: { orderId: 7 } } },
  },
};
`;

const clientOptions = ({ name, store }: Form): string => {
  const id = name.replaceAll(/[^a-z0-9]+/g, "-");
  return store === "sqlite" ? `{ id: "${id}" }` : `{ id: "${id}", store: process.env.DATABASE_URL }`;
};

const client = (form: Form) => {
  const { js } = layoutOf(form);
  const where = form.store === "sqlite" ? "its facts are in .idem/" : "its facts are in PostgreSQL: see .env.example";
  const checked =
    form.store === "sqlite"
      ? ""
      : `if (process.env.DATABASE_URL === undefined) throw new Error("DATABASE_URL is not set: cp .env.example .env");\n\n`;
  const head = `import { Idem } from "idem";
import { defineFunctions } from "./functions${js}";
import { payments } from "./payments${js}";

${checked}`;
  if (form.template !== "next") {
    return `${head}export const idem = new Idem(${clientOptions(form)}); // ${where}

defineFunctions(idem, payments);
`;
  }
  return `${head}function open() {
  const idem = new Idem(${clientOptions(form)}); // ${where}
  defineFunctions(idem, payments);
  return idem;
}

// Next.js loads this module more than once in a process; the client is one.
const kept = globalThis as { idem?: Idem };
kept.idem ??= open();
export const idem = kept.idem;
`;
};

export function codeOf(form: Form): Readonly<Record<string, string>> {
  const { folder, js } = layoutOf(form);
  const named = (text: string) => text.replaceAll("functionsJS", `functions${js}`);
  return {
    [`${folder}/functions.ts`]: functions,
    [`${folder}/payments.ts`]: named(payments),
    [`${folder}/idem.ts`]: client(form),
    [`${folder}/functions.test.ts`]: named(test),
    "idem.verify.ts": verify(folder, form),
  };
}
