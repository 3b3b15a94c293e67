import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const CHECKOUT = fileURLToPath(new URL("../../..", import.meta.url));

export interface Breakage {
  /** A compiled file, from the checkout's folder. */
  readonly file: string;
  /** Must stand in it exactly once, whatever its blanks: the build takes them out. */
  readonly text: string;
  readonly becomes: string;
}

export interface OtherBuild {
  readonly main: string;
  remove(): Promise<void>;
}

/** A copy of the built product in which one thing is wrong. */
export function brokenBuild({ file, text, becomes }: Breakage): Promise<OtherBuild> {
  return copiedBuild(async (folder) => {
    const path = join(folder, file);
    const parts = (await readFile(path, "utf8")).split(withAnyBlanks(text));
    if (parts.length !== 2)
      throw new Error(`${file}: expected exactly one place that reads ${text}, found ${parts.length - 1}.`);
    await writeFile(path, parts.join(becomes));
  });
}

/** A copy of the built product that has other workflows. @param code of their bundle */
export function buildWithWorkflows(code: string): Promise<OtherBuild> {
  return copiedBuild((folder) => writeFile(join(folder, "dist/workflow-bundle.cjs"), code));
}

async function copiedBuild(change: (folder: string) => Promise<void>): Promise<OtherBuild> {
  const folder = await mkdtemp(join(tmpdir(), "fiscalflow-broken-"));
  await cp(join(CHECKOUT, "dist"), join(folder, "dist"), { recursive: true });
  await cp(join(CHECKOUT, "package.json"), join(folder, "package.json"));
  await symlink(join(CHECKOUT, "node_modules"), join(folder, "node_modules"));
  await change(folder);
  return {
    main: join(folder, "dist/src/main.js"),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

function withAnyBlanks(text: string): RegExp {
  const pieces = text.match(/\w+|[^\w\s]/g) ?? [];
  return new RegExp(pieces.map((piece) => piece.replace(/\W/, String.raw`\$&`)).join(String.raw`\s*`), "g");
}
