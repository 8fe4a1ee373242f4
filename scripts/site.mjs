// Puts the npm package and the site together: node scripts/site.mjs FOLDER NPM SITE BUILD...     (scripts/site builds the modules first)
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const [folder, npm, site] = process.argv.slice(2, 5).map((path) => resolve(path)), builds = process.argv.slice(5);
const MODULE = "wasm32-unknown-unknown/web/locdiff_serve.wasm";
const ENCODER = "crates/bundled-encoder/streetview-lite2", MODEL = "crates/bundled-model/streetview-l31";
const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; base-uri 'none'; form-action 'none'";

// The package: its sources, the modules and the model's files, each gzipped under its hash.
rmSync(npm, { recursive: true, force: true });
mkdirSync(join(npm, "files"), { recursive: true });
for (const name of readdirSync("crates/serve/npm")) if (name !== "test.mjs") cpSync(join("crates/serve/npm", name), join(npm, name));
for (const name of ["LICENSE-APACHE", "LICENSE-MIT"]) cpSync(name, join(npm, name));
cpSync(join(ENCODER, "LICENSE-NOTICE.md"), join(npm, "LICENSE-NOTICE.md"));
const sources = {
  ...Object.fromEntries(builds.map((build) => [`${build}.wasm`, join(folder, build, MODULE)])),
  "encoder.json": join(ENCODER, "encoder.json"), "encoder.safetensors": join(ENCODER, "model.safetensors"),
  "config.json": join(MODEL, "config.json"), "model.safetensors": join(MODEL, "model.safetensors"), "calibration.json": join(MODEL, "calibration.json"),
};
const files = Object.entries(sources).map(([name, from]) => {
  const bytes = gzipSync(readFileSync(from), { level: 9 }), hash = createHash("sha256").update(bytes);
  const digest = hash.copy().digest("hex"), path = `files/${name.replace(/(\.\w+)$/, `-${digest.slice(0, 12)}$1`)}.gz`;
  writeFileSync(join(npm, path), bytes);
  return { name, path, bytes: bytes.length, integrity: `sha256-${hash.digest("base64")}` };
});
writeFileSync(join(npm, "files.json"), `${JSON.stringify(files, null, 1)}\n`);

// The site: the server's page, the package, and what the server would compute for everyone.
rmSync(site, { recursive: true, force: true });
mkdirSync(join(site, "page"), { recursive: true });
cpSync(npm, join(site, "locdiff"), { recursive: true, filter: (from) => !/node\.js$|package\.json$|\.d\.ts$|README\.md$/.test(from) });
for (const name of readdirSync("crates/serve/page")) if (!/^(review\.|grid\.|tiles\.|README|index\.html)/.test(name)) cpSync(join("crates/serve/page", name), join(site, "page", name));
cpSync("crates/serve/site/backend.js", join(site, "page/backend.js"));
cpSync("crates/map/assets/coast_110m.bin", join(site, "page/coast-coarse.bin"));
cpSync("crates/map/assets/coast_50m.bin", join(site, "page/coast-fine.bin"));
const { open } = await import(pathToFileURL(join(npm, "node.js")));
const locdiff = open();
for (const [path, file] of [["/page/labels.json", "labels.json"], ["/v1/regions", "regions.json"]]) {
  const reply = await locdiff.ask(path, "", "", new Uint8Array());
  if (reply.status !== 200) throw new Error(`${path}: ${reply.status}`);
  writeFileSync(join(site, "page", file), reply.body);
}
const index = readFileSync("crates/serve/page/index.html", "utf8");
writeFileSync(join(site, "index.html"), index.replace('<meta charset="utf-8">', `<meta charset="utf-8">\n<meta http-equiv="content-security-policy" content="${POLICY}">\n<meta name="referrer" content="no-referrer">`));
writeFileSync(join(site, "_headers"), `/*\n  content-security-policy: ${POLICY}; frame-ancestors 'none'\n  x-content-type-options: nosniff\n  referrer-policy: no-referrer\n  cross-origin-resource-policy: same-origin\n/locdiff/files/*\n  cache-control: public, max-age=31536000, immutable\n`);

// The keeper's lists, and a version by their contents.
const below = (folder) => readdirSync(join(site, folder), { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name).slice(site.length + 1)).sort();
const own = below(".").filter((path) => !/^(_headers|keeper\.js|.*LICENSE.*)$/.test(path));
const page = ["", ...own.filter((path) => !path.startsWith("locdiff/files/"))], kept = own.filter((path) => path.startsWith("locdiff/files/"));
const version = createHash("sha256");
for (const path of own) version.update(path).update(readFileSync(join(site, path)));
const keeper = readFileSync("crates/serve/site/keeper.js", "utf8").replace("@VERSION@", version.digest("hex").slice(0, 12)).replace('"@PAGE@"', JSON.stringify(page)).replace('"@FILES@"', JSON.stringify(kept));
writeFileSync(join(site, "keeper.js"), keeper);
const size = (paths) => paths.reduce((sum, path) => sum + readFileSync(join(site, path || "index.html")).length, 0);
console.log(`${site}: ${page.length - 1} files of ${size(page.slice(1))} bytes, and ${files.map((file) => `${file.name} ${file.bytes}`).join(", ")}`);
