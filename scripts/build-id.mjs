// A part of the build: names it by what it holds, so that two builds differ where their code does. Workers of a Worker
// Deployment carry it as their build id.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FOLDERS = ["dist/activities", "dist/src"];
const files = FOLDERS.flatMap((folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(({ name }) => name.endsWith(".js"))
    .map(({ parentPath, name }) => join(parentPath, name)),
);
const hash = createHash("sha256");
for (const file of ["dist/workflow-bundle.cjs", ...files.toSorted()])
  hash.update(`${file}\n`).update(readFileSync(file));
const { version } = JSON.parse(readFileSync("package.json", "utf8"));
writeFileSync("dist/build-id", `${version}-${hash.digest("hex").slice(0, 12)}\n`);
