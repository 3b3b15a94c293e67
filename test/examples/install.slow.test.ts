import { execFile } from "node:child_process";
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { compileStrictly, declaredBy, type Manifest, packIntoProject } from "./consumer.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const README = join(ROOT, "README.md");
const INSTALLED = [
  {
    name: "client",
    brings: "@temporalio/client",
    // Weighed: 46 packages and 37 MB, of which all but three packages and 6 MB are `@temporalio/client`.
    atMost: { packages: 55, megabytes: 45 },
    folders: /^dist\/(starter|contract|nexus|payloads)\//,
    readmes: { "root.ts": README, "own.ts": join(ROOT, "packages/client/README.md") },
  },
  {
    name: "receipt",
    brings: "pdfkit",
    // Weighed: 22 packages and 23 MB, nearly all of it `pdfkit` with what it needs.
    atMost: { packages: 26, megabytes: 30 },
    folders: /^dist\/(receipt|contract)\//,
    readmes: { "own.ts": join(ROOT, "packages/receipt/README.md") },
  },
] as const;

const run = promisify(execFile);

const CODE = /\.(js|d\.ts)$/;

/** The files below a folder, as paths within it. */
async function filesIn(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return files.map((file) => file.slice(root.length + 1).replaceAll(sep, "/")).toSorted();
}

async function install(folder: string, tarballs: readonly string[]): Promise<void> {
  await run("npm", ["install", "--no-audit", "--no-fund", ...tarballs], { cwd: folder });
}

describe.each(INSTALLED)("the $name package, installed into an empty project", (installed) => {
  const { name, brings, atMost, folders, readmes } = installed;
  let folder: string;
  let tarballs: Awaited<ReturnType<typeof packIntoProject>>["tarballs"];
  let own: string;
  let manifest: Manifest;

  /** From the registry, with what the package declares and nothing else. */
  beforeAll(async () => {
    ({ folder, tarballs } = await packIntoProject());
    await install(folder, [tarballs[name]]);
    own = join(folder, "node_modules/@fiscalflow", name);
    manifest = JSON.parse(await readFile(join(own, "package.json"), "utf8")) as Manifest;
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("installs few packages, and no worker, simulator, database or server", async () => {
    const { stdout } = await run("npm", ["ls", "--all", "--parseable"], { cwd: folder });
    const [, ...packages] = stdout.trim().split("\n");
    const names = packages.map((path) => path.slice(path.lastIndexOf(`node_modules${sep}`) + 13).replaceAll(sep, "/"));
    const modules = join(folder, "node_modules");
    const sizes = await Promise.all(
      (await filesIn(modules)).map(async (file) => (await stat(join(modules, file))).size),
    );
    const megabytes = sizes.reduce((sum, size) => sum + size, 0) / 1e6;
    process.stdout.write(`The ${name} package: ${names.length} packages, ${megabytes.toFixed(1)} MB installed.\n`);

    expect(names).toContain(brings);
    const unwanted =
      /^(fiscalflow|fastify|undici|pino|kysely|pg|commander)$|^@temporalio\/(worker|core-bridge|testing|workflow|activity)$|embedded|vitest|typescript/;
    expect(names.filter((one) => unwanted.test(one))).toEqual([]);
    expect(names.length).toBeLessThanOrEqual(atMost.packages);
    expect(megabytes).toBeLessThanOrEqual(atMost.megabytes);
  });

  test("has code, declarations, a readme and the licence, and imports only what it declares", async () => {
    const files = await filesIn(own);
    const schemas = files.filter((file) => file.startsWith("schema/"));
    const other = files.filter((file) => !schemas.includes(file) && !(folders.test(file) && CODE.test(file)));
    expect(other).toEqual(["LICENSE", "README.md", "package.json"]);
    expect(schemas.length).toBe(name === "client" ? (await filesIn(join(ROOT, "packages/client/schema"))).length : 0);
    expect(files.filter((file) => /^dist.*(test|activities|synced|reconcile)/.test(file))).toEqual([]);
    expect(await readFile(join(own, "LICENSE"), "utf8")).toBe(await readFile(join(ROOT, "LICENSE"), "utf8"));

    const imported = new Set<string>();
    for (const file of files.filter((one) => one.startsWith("dist/"))) {
      const text = await readFile(join(own, file), "utf8");
      const imports = text.matchAll(/^(?:import|export) (?:.* from )?"([^"]+)";$|\bawait import\("([^"]+)"\)/gm);
      for (const [, static_, dynamic] of imports) {
        const module = static_ ?? dynamic ?? "";
        const [named] = /^(@[^/]+\/)?[^/]+/.exec(module) ?? [];
        if (named !== undefined && !/^\.|^node:/.test(module)) imported.add(named);
      }
    }
    expect([...imported].toSorted()).toEqual(declaredBy(manifest).toSorted());
  });

  test("has the version of fiscalflow, and needs what fiscalflow itself is tested with", async () => {
    const root = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as Manifest;
    expect(manifest.version).toBe(root.version);
    for (const [module, range] of Object.entries({ ...manifest.dependencies, ...manifest.peerDependencies })) {
      expect({ module, from: range.replace(/^\^/, "") }).toEqual({
        module,
        from: root.dependencies?.[module]?.replace(/^\^/, ""),
      });
    }
  });

  test.each([
    { module: "node16", moduleResolution: "node16" },
    { module: "preserve", moduleResolution: "bundler" },
  ])("compiles the program of its readme, strictly, for $moduleResolution", async (options) => {
    await install(folder, Object.values(tarballs));
    for (const [file, readme] of Object.entries(readmes)) {
      const [, program] = /```ts\n([^]+?)```/.exec(await readFile(readme, "utf8")) ?? [];
      expect(program).toContain(`from "@fiscalflow/${name}"`);
      await writeFile(join(folder, file), program ?? "");
    }
    // Temporal's own declarations do not compile without `@types/ms`. Ours are checked with the examples.
    await compileStrictly(folder, Object.keys(readmes), { ...options, skipLibCheck: true });
  });
});
