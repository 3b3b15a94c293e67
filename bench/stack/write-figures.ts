import { mkdir, writeFile } from "node:fs/promises";
import { cpus, loadavg, totalmem } from "node:os";
import { join } from "node:path";

import { secondsSinceStart } from "./progress.ts";

/** `<name>.json`, with when and on how much of a machine; never a path or a name of it. @returns where it is */
export async function writeFigures(folder: string, name: string, figures: object): Promise<string> {
  const [processor] = cpus();
  const machine = {
    processors: cpus().length,
    model: processor?.model,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    loadAtTheEnd: loadavg()[0],
  };
  const head = { at: new Date().toISOString(), seconds: Math.round(secondsSinceStart()), machine };
  await mkdir(folder, { recursive: true });
  const path = join(folder, `${name}.json`);
  await writeFile(path, `${JSON.stringify({ ...head, ...figures }, null, 2)}\n`);
  return path;
}
