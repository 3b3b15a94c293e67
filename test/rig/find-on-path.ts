import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** The first executable of that name on PATH. */
export function findOnPath(name: string): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
