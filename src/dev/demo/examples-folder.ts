import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The package's `examples`, from wherever this file runs: compiled in `dist`, or as it is. */
export function examplesFolder(from = fileURLToPath(import.meta.url)): string {
  for (let folder = dirname(from); ; folder = dirname(folder)) {
    const candidate = join(folder, "examples");
    if (existsSync(join(candidate, "scenario.json"))) return candidate;
    if (dirname(folder) === folder) throw new Error("The package has no folder `examples`: it is not complete.");
  }
}
