import { execFile } from "node:child_process";
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { compileStrictly, type Manifest, packIntoProject } from "./consumer.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const README = join(ROOT, "README.md");
/** Weighed: 46 packages and 37 MB, of which all but three packages and 6 MB are `@temporalio/client`. */
const MOST_PACKAGES = 55;
const MOST_MEGABYTES = 45;

const run = promisify(execFile);

let folder: string;
let client: string;
let manifest: Manifest;

/** From the registry, with what the package declares and nothing else. */
beforeAll(async () => {
  const { folder: project, tarball } = await packIntoProject();
  folder = project;
  await run("npm", ["install", "--no-audit", "--no-fund", tarball], { cwd: folder });
  client = join(folder, "node_modules/@fiscalflow/client");
  manifest = JSON.parse(await readFile(join(client, "package.json"), "utf8")) as Manifest;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The files below a folder, as paths within it. */
async function filesIn(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return files.map((file) => file.slice(root.length + 1).replaceAll(sep, "/")).toSorted();
}

describe("the client package, installed into an empty project", () => {
  test("brings few packages, among them no worker, no simulator, no database and no server", async () => {
    const { stdout } = await run("npm", ["ls", "--all", "--parseable"], { cwd: folder });
    const [, ...packages] = stdout.trim().split("\n");
    const names = packages.map((path) => path.slice(path.lastIndexOf(`node_modules${sep}`) + 13).replaceAll(sep, "/"));
    const modules = join(folder, "node_modules");
    const sizes = await Promise.all(
      (await filesIn(modules)).map(async (file) => (await stat(join(modules, file))).size),
    );
    const megabytes = sizes.reduce((sum, size) => sum + size, 0) / 1e6;
    process.stdout.write(`The client package: ${names.length} packages, ${megabytes.toFixed(1)} MB installed.\n`);

    expect(names).toContain("@temporalio/client");
    const unwanted =
      /^(fiscalflow|fastify|undici|pino|kysely|pg|commander)$|^@temporalio\/(worker|core-bridge|testing|workflow|activity)$|embedded|vitest|typescript/;
    expect(names.filter((name) => unwanted.test(name))).toEqual([]);
    expect(names.length).toBeLessThanOrEqual(MOST_PACKAGES);
    expect(megabytes).toBeLessThanOrEqual(MOST_MEGABYTES);
  });

  test("has code, its declarations, a readme and the licence, and imports just what it declares", async () => {
    const files = await filesIn(client);
    const schemas = (await filesIn(join(ROOT, "packages/client/schema"))).map((name) => `schema/${name}`);
    expect(schemas.length).toBeGreaterThan(10);
    const other = files.filter((file) => !/^dist\/(starter|contract)\/.+\.(js|d\.ts)$/.test(file));
    expect(other).toEqual(["LICENSE", "README.md", "package.json", ...schemas]);
    expect(files.filter((file) => /test|activities|synced|reconcile/.test(file))).toEqual([]);
    expect(await readFile(join(client, "LICENSE"), "utf8")).toBe(await readFile(join(ROOT, "LICENSE"), "utf8"));

    const imported = new Set<string>();
    for (const file of files.filter((name) => name.startsWith("dist/"))) {
      const text = await readFile(join(client, file), "utf8");
      for (const [, name = ""] of text.matchAll(/^(?:import|export) (?:.* from )?"([^"]+)";$/gm)) {
        if (/^\.|^node:/.test(name)) continue;
        imported.add(name);
      }
    }
    expect([...imported].toSorted()).toEqual(
      Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }).toSorted(),
    );
  });

  test("has the version of fiscalflow, and needs what fiscalflow itself is tested with", async () => {
    const root = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as Manifest;
    expect(manifest.version).toBe(root.version);
    for (const [name, range] of Object.entries({ ...manifest.dependencies, ...manifest.peerDependencies })) {
      expect({ name, from: range.replace(/^\^/, "") }).toEqual({
        name,
        from: root.dependencies[name]?.replace(/^\^/, ""),
      });
    }
  });

  test.each([
    { module: "node16", moduleResolution: "node16" },
    { module: "preserve", moduleResolution: "bundler" },
  ])("compiles the program in both readmes, strictly, for $moduleResolution", async (options) => {
    const files: string[] = [];
    for (const [name, readme] of Object.entries({ "root.ts": README, "own.ts": join(client, "README.md") })) {
      const [, program] = /```ts\n([^]+?)```/.exec(await readFile(readme, "utf8")) ?? [];
      expect(program).toContain('from "@fiscalflow/client"');
      await writeFile(join(folder, name), program ?? "");
      files.push(name);
    }
    // Temporal's own declarations do not compile without `@types/ms`. Ours are checked with the examples.
    await compileStrictly(folder, files, { ...options, skipLibCheck: true });
  });
});
