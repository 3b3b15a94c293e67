import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { SourceMap } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleMap } from "../rig/bundle-map.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** A third of it is the bundled workflows with Temporal's SDK. */
const MOST_MEGABYTES = 1.5;

const run = promisify(execFile);

interface Packed {
  filename: string;
  unpackedSize: number;
  files: { path: string }[];
}

let folder: string;
let packed: Packed;
let paths: string[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fiscalflow-package-"));
  // Built by the set-up of the run.
  const args = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
  const { stdout } = await run("npm", args, { cwd: ROOT });
  [packed] = JSON.parse(stdout) as [Packed];
  paths = packed.files.map(({ path }) => path);
  await run("tar", ["-xzf", join(folder, packed.filename), "-C", folder]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("the package fiscalflow", () => {
  test("is small, and has the licence, the command and the examples of the demo, and no docs, map, test or build information", () => {
    const megabytes = packed.unpackedSize / 1e6;
    process.stdout.write(`The package: ${paths.length} files, ${megabytes.toFixed(2)} MB unpacked.\n`);
    expect(megabytes).toBeLessThan(MOST_MEGABYTES);
    expect(paths).toEqual(
      expect.arrayContaining([
        "LICENSE",
        "README.md",
        "bin/fiscalflow.js",
        "dist/src/main.js",
        "examples/scenario.json",
      ]),
    );
    expect(
      paths.filter((path) =>
        /\.map$|tsbuildinfo|\.test\.|test-support|^(docs|src|test|bench|node_modules)\//.test(path),
      ),
    ).toEqual([]);
    // Nothing of it is imported by other programs.
    expect(paths.filter((path) => path.endsWith(".d.ts"))).toEqual([]);
  });

  test("names its repository and its licence", async () => {
    const manifest = JSON.parse(await readFile(join(folder, "package/package.json"), "utf8")) as object;
    expect(manifest).toMatchObject({ license: "Apache-2.0", repository: { type: "git", url: expect.any(String) } });
  });

  test("has every file that its files import", async () => {
    const missing: string[] = [];
    for (const path of paths.filter((one) => /^dist\/.*\.(js|d\.ts)$/.test(one))) {
      const text = await readFile(join(folder, "package", path), "utf8");
      for (const [, imported = ""] of text.matchAll(/(?:from|import\()\s*"(\.{1,2}\/[^"]+)"/g)) {
        const target = join(dirname(path), imported).replaceAll("\\", "/");
        const candidates = path.endsWith(".d.ts") ? [target.replace(/\.(js|ts)$/, ".d.ts")] : [target];
        if (!candidates.some((one) => paths.includes(one))) missing.push(`${path} imports ${imported}`);
      }
    }
    expect(missing).toEqual([]);
  });

  test("names the pages of the docs, which it does not carry, by their addresses", async () => {
    const address = "https://github.com/fiscalflow/fiscalflow/blob/main/";
    const pages = new Set<string>();
    for (const path of paths.filter((one) => /^dist\/.*\.js$/.test(one))) {
      // Of the comments, which nobody is shown, tsc leaves some in the contract's files.
      const text = (await readFile(join(folder, "package", path), "utf8")).replaceAll(/\/\*[^]*?\*\//g, "");
      const named = text.matchAll(/(\S*?)(docs\/[a-z-]+\.md)(#[a-z-]+)?(\S* of fiscalflow)?/g);
      for (const [all, before = "", page = "", anchor, ofFiscalflow] of named) {
        expect(before.endsWith(address) || ofFiscalflow !== undefined, `${path} says ${all}`).toBe(true);
        pages.add(`${page}${anchor ?? ""}`);
      }
    }
    expect([...pages]).toContain("docs/ledger.md#when-something-is-found");
    for (const [page = "", anchor = ""] of [...pages].map((one) => one.split("#"))) {
      const headings = (await readFile(join(ROOT, page), "utf8")).matchAll(/^#+ (.+)$/gm);
      const words = [...headings].map(([, heading = ""]) => heading.toLowerCase().replaceAll(/[^\w -]/g, ""));
      const anchors = words.map((heading) => heading.replaceAll(" ", "-"));
      expect(["", ...anchors]).toContain(anchor);
    }
  });

  test("runs its command from its own files", async () => {
    await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"), "dir");
    const main = join(folder, "package/bin/fiscalflow.js");
    const { stdout } = await run(process.execPath, [main, "--version"], { cwd: folder });
    const { version } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as { version: string };
    expect(stdout.trim()).toBe(version);
    // As in a checkout that nobody has built.
    await rm(join(folder, "package/dist/src/main.js"));
    const unbuilt = run(process.execPath, [main, "--version"], { cwd: folder });
    await expect(unbuilt).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining("npm run build") });
  });

  test("maps the bundled workflows to the lines of their sources, and names no folder of the machine that built it", async () => {
    const bundle = await readFile(join(folder, "package/dist/workflow-bundle.cjs"), "utf8");
    const map = bundleMap(bundle);
    expect(map.sources).toContain("./workflows/sale/workflow.ts");
    expect(map.sources.filter((source) => source.startsWith("/"))).toEqual([]);
    const summaries = bundle.split("\n").flatMap((line, index) => {
      const [, summary] = /\bsummary: ("[^"]+")/.exec(line) ?? [];
      return summary === undefined ? [] : [{ summary, entry: new SourceMap(map).findEntry(index, 0) }];
    });
    expect(summaries.length).toBeGreaterThan(0);
    for (const { summary, entry } of summaries) {
      if (!("originalLine" in entry)) throw new Error(`The map does not know where ${summary} comes from.`);
      const source = await readFile(join(ROOT, entry.originalSource), "utf8");
      expect(source.split("\n")[entry.originalLine]).toContain(summary);
    }
  });
});
