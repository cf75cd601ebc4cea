// The headers of a call, with the signature of a delivery: it is made when it leaves, with the world's time.
import type { SentCall } from "../calls/call-script.ts";

type Sign = (delivery: { readonly body: string; readonly at: number }) => unknown;

/** `moduleOf` what a module exports in the process that is called. */
export async function headersOf(
  { signing, headers, body, url, isSpoilt = false }: SentCall,
  at: number,
  moduleOf: (path: string) => object,
): Promise<[string, string][]> {
  const signed = signing === null ? {} : await sign(signing, body ?? "", url, at, moduleOf);
  const all = [...headers, ...Object.entries(signed)];
  // The signature alone: with another id it would be another delivery.
  return all.map(([name, value]) => [name, isSpoilt && /signature|hmac/i.test(name) ? spoilt(value) : value]);
}

const spoilt = (value: string): string =>
  value.replace(/[0-9a-z](?=[^0-9a-z]*$)/i, (last) => (last === "a" ? "b" : "a"));

async function sign(
  signing: NonNullable<SentCall["signing"]>,
  body: string,
  url: string,
  at: number,
  moduleOf: (path: string) => object,
): Promise<Record<string, string>> {
  if ("module" in signing) {
    const made = (moduleOf(signing.module) as Record<string, unknown>)[signing.name];
    if (typeof made !== "function") throw new Error(`the module exports no function "${signing.name}" that signs`);
    const given = await (made as Sign)({ body, at });
    return Object.fromEntries(
      new Headers(given instanceof Request ? given.headers : (given as Record<string, string>)),
    );
  }
  const { providerNamed, providerNames } = await import("../../toolkit/webhooks/provider-named.ts");
  const { secret, id, type } = signing;
  const name = providerNames.find((each) => each === signing.provider);
  if (name === undefined) throw new Error(`there is no provider "${signing.provider}": ${providerNames.join(", ")}`);
  const bytes = Buffer.from(body);
  return { ...providerNamed(name, { secrets: [secret] }).sign({ secret, bytes, url, id, type, at }).headers };
}
