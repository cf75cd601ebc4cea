// What the published package is made of: CycloneDX, from the lock file and the built pages, so the same commit gives the same bytes on every machine.
// (npm's own `npm sbom` describes the workspace and not the package in it, and its number and time are others on each run.)
//
// Two kinds of others' code reach a user: packages that npm installs beside ours, in the versions of the lock, and what is in our files already, the dashboard's
// and the others. The build writes it to dist/sbom.cdx.json, so that it is published with the rest and under the same provenance; `npm run sbom` prints it.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** JSON. */
export function billOfMaterials() {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages;
  const idem = "packages/idem";
  const installed = below(lock, idem);
  const inPages = writtenIn(lock, "dist/dashboard");
  const inParts = writtenIn(lock, "dist");
  const bundled = new Set([...inPages, ...inParts]);
  const all = [...new Set([...installed, ...bundled])].sort(byPurl(lock));
  const component = { ...componentOf(lock, idem), "bom-ref": purlOf(lock, idem) };
  const components = all.map((place) => ({
    ...componentOf(lock, place),
    properties: [
      ...(installed.has(place) ? [{ name: "idem:reaches-users", value: "installed beside the package" }] : []),
      ...(inPages.has(place) ? [{ name: "idem:reaches-users", value: "in dist/dashboard" }] : []),
      ...(inParts.has(place) ? [{ name: "idem:reaches-users", value: "in dist/parts" }] : []),
    ],
  }));
  const purls = (places) => places.map((place) => purlOf(lock, place)).sort();
  const dependencies = [
    { ref: purlOf(lock, idem), dependsOn: purls([...new Set([...needed(lock, idem), ...bundled])]) },
    ...all.map((place) => ({
      ref: purlOf(lock, place),
      dependsOn: purls(needed(lock, place).filter((each) => all.includes(each))),
    })),
  ];
  const content = { metadata: { component }, components, dependencies };
  const text = JSON.stringify(content);
  return `${JSON.stringify({ bomFormat: "CycloneDX", specVersion: "1.6", serialNumber: uuidOf(text), version: 1, ...content }, null, 2)}\n`;
}

/** What was found in the pages, which is less than they depend on, or is inside the package: written beside it, with the licences. */
function writtenIn(lock, folder) {
  const written = readFileSync(join(root, "packages", "idem", folder, "licenses.md"), "utf8");
  const places = [...below(lock, "packages/dashboard"), ...Object.keys(lock)];
  return new Set(
    [...written.matchAll(/^## (\S+) - (\S+) \(/gm)].map(([, name, version]) => {
      const place = places.find((each) => nameOf(lock, each) === name && lock[each].version === version);
      if (place === undefined) throw new Error(`${folder} holds ${name} ${version}, which is not in package-lock.json`);
      return place;
    }),
  );
}

/** Every place of the lock that one needs, and what those need. */
function below(lock, place, found = new Set()) {
  for (const each of needed(lock, place)) {
    if (found.has(each)) continue;
    found.add(each);
    below(lock, each, found);
  }
  return found;
}

/** Peers that may be missing are their user's, and not of the package. */
function needed(lock, place) {
  const {
    dependencies = {},
    optionalDependencies = {},
    peerDependencies = {},
    peerDependenciesMeta = {},
  } = lock[place];
  const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true);
  const names = new Set([...Object.keys(dependencies), ...Object.keys(optionalDependencies), ...peers]);
  return [...names].flatMap((name) => placeOf(lock, place, name) ?? []);
}

/** As Node looks for it: from the folder itself upwards. Null for an optional one that is not for this lock. */
function placeOf(lock, from, name) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/")))) {
    const place = `${folder === "" ? "" : `${folder}/`}node_modules/${name}`;
    if (lock[place] !== undefined) return place;
    if (folder === "") return null;
  }
}

/** Of a workspace, its folder's. */
const nameOf = (lock, place) =>
  lock[place].name ?? /(?:^|.*\/)node_modules\/(.+)$|([^/]+)$/.exec(place).slice(1).find(Boolean);

const purlOf = (lock, place) => `pkg:npm/${nameOf(lock, place).replace("@", "%40")}@${lock[place].version}`;

const byPurl = (lock) => (a, b) => (purlOf(lock, a) < purlOf(lock, b) ? -1 : 1);

function componentOf(lock, place) {
  const { version, license, integrity } = lock[place];
  const [, digest] = /^sha512-(\S+)$/.exec(integrity ?? "") ?? [];
  const isId = /^[\w.+-]+$/.test(license ?? "");
  return {
    type: "library",
    "bom-ref": purlOf(lock, place),
    name: nameOf(lock, place),
    version,
    purl: purlOf(lock, place),
    ...(license === undefined ? {} : { licenses: [isId ? { license: { id: license } } : { expression: license }] }),
    ...(digest === undefined
      ? {}
      : { hashes: [{ alg: "SHA-512", content: Buffer.from(digest, "base64").toString("hex") }] }),
  };
}

/** Of the content, in the shape the format wants (RFC 9562, version 8). */
function uuidOf(text) {
  const hex = createHash("sha256").update(text).digest("hex");
  return `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

if (argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(billOfMaterials());
