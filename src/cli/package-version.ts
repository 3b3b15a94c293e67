import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The package's version, from wherever this file runs: compiled in `dist`, or as it is. */
export function packageVersion(from = fileURLToPath(import.meta.url)): string {
  for (let folder = dirname(from); dirname(folder) !== folder; folder = dirname(folder)) {
    const path = join(folder, "package.json");
    if (!existsSync(path)) continue;
    const manifest: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (typeof manifest === "object" && manifest !== null && "version" in manifest) return String(manifest.version);
  }
  return "unknown";
}
