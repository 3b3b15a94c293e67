import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const REPOSITORY = resolve(import.meta.dirname, "../../..");

/**
 * A file of `src`, and what it imports, as JavaScript, for tests that need a process of their own (one that is killed, for instance): Node
 * 20 runs no TypeScript, and `dist` may be older than the source. Returns the path of the compiled file, and what
 * removes it again.
 */
export function compileSource(file: string): { index: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), "fiscalflow-compiled-"));
  symlinkSync(join(REPOSITORY, "node_modules"), join(folder, "node_modules"), "dir");
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  const compilerOptions = { rootDir: REPOSITORY, outDir: folder, noCheck: true, declaration: false, sourceMap: false };
  const config = {
    extends: join(REPOSITORY, "tsconfig.json"),
    compilerOptions: { ...compilerOptions, typeRoots: [join(REPOSITORY, "node_modules/@types")] },
    files: [join(REPOSITORY, `src/${file}`)],
    include: [],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  const compiler = join(REPOSITORY, "node_modules/typescript/bin/tsc");
  const run = spawnSync(process.execPath, [compiler, "-p", folder], { encoding: "utf8" });
  if (run.status !== 0) throw new Error(`src/${file} did not compile: ${run.stdout}${run.stderr}`);
  return {
    index: join(folder, `src/${file.replace(/ts$/, "js")}`),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
