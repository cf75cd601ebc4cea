// Certificates for tests of TLS, made on the spot: an authority, and what it vouches for. Nothing here is for anybody else.
import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { isIPv4 } from "node:net";

export interface Certificate {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
}

interface Authority extends Certificate {
  readonly name: string;
}

const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  const { length } = body;
  const bytes = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...bytes]), body]);
};
const sequence = (...parts: readonly Uint8Array[]) => der(0x30, ...parts);
const oid = (...bytes: readonly number[]) => der(0x06, Buffer.from(bytes));
const time = (text: string) => der(0x18, Buffer.from(text));
const bits = (bytes: Uint8Array) => der(0x03, Buffer.from([0]), bytes);
const extension = (id: readonly number[], value: Uint8Array) => sequence(oid(...id), der(0x04, value));

const ecdsaWithSha256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
const basicConstraints = [0x55, 0x1d, 0x13];
const subjectAltName = [0x55, 0x1d, 0x11];
const named = (name: string) => sequence(der(0x31, sequence(oid(0x55, 0x04, 0x03), der(0x0c, Buffer.from(name)))));

let serials = 0;

function issue(subject: string, issuer: string, signer: KeyObject, publicKey: KeyObject, extensions: Uint8Array[]) {
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([++serials])),
    ecdsaWithSha256,
    named(issuer),
    sequence(time("20200101000000Z"), time("21200101000000Z")),
    named(subject),
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(...extensions)),
  );
  const whole = sequence(body, ecdsaWithSha256, bits(sign("sha256", body, signer)));
  const lines = whole.toString("base64").match(/.{1,64}/g)!;
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

const newKeys = () => generateKeyPairSync("ec", { namedCurve: "P-256" });
const pem = (key: KeyObject) => key.export({ type: "pkcs8", format: "pem" }) as string;

export function makeAuthority(name: string): Authority {
  const { publicKey, privateKey } = newKeys();
  const isAuthority = extension(basicConstraints, sequence(der(0x01, Buffer.from([255]))));
  return { name, key: pem(privateKey), cert: issue(name, name, privateKey, publicKey, [isAuthority]) };
}

/** For a server that is reached by these names and addresses. */
export function certify(authority: Authority, hosts: readonly string[]): Certificate {
  const { publicKey, privateKey } = newKeys();
  const names = hosts.map((host) =>
    isIPv4(host) ? der(0x87, Buffer.from(host.split(".").map(Number))) : der(0x82, Buffer.from(host)),
  );
  const extensions = [extension(subjectAltName, sequence(...names))];
  const signer = createPrivateKey(authority.key);
  return { key: pem(privateKey), cert: issue(hosts[0]!, authority.name, signer, publicKey, extensions) };
}
