import { access, constants, stat } from "node:fs/promises";
import { delimiter, join } from "node:path";

/** The first executable of that name on PATH. */
export async function findOnPath(name: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const fileName = process.platform === "win32" ? `${name}.exe` : name;
  for (const folder of (env["PATH"] ?? "").split(delimiter)) {
    if (folder === "") continue;
    const path = join(folder, fileName);
    if ((await whyNotExecutable(path)) === undefined) return path;
  }
  return undefined;
}

/** Undefined when the path is an executable file, else what is wrong with it. */
export async function whyNotExecutable(path: string): Promise<string | undefined> {
  try {
    if (!(await stat(path)).isFile()) return `${path} is not a file`;
  } catch {
    return `${path} does not exist`;
  }
  try {
    await access(path, constants.X_OK);
    return undefined;
  } catch {
    return `${path} is not executable`;
  }
}
