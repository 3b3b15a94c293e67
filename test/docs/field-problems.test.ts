import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = new URL("../../", import.meta.url);
const page = await readFile(fileURLToPath(new URL("docs/field-problems.md", ROOT)), "utf8");

const named = [...page.matchAll(/^- `([^`]+\.test\.ts)`: (.+)$/gm)].map(([, path = "", title = ""]) => ({
  path,
  title,
}));

test("docs/field-problems.md has all 36 problems, each with its decision", () => {
  const numbers = [...page.matchAll(/^## (\d+)\. .+\n\n\*.+\*\n\n\S/gm)].map(([, number]) => Number(number));
  expect(numbers).toEqual(Array.from({ length: 36 }, (_, index) => index + 1));
  expect(named.length).toBeGreaterThan(70);
});

test("every test that docs/field-problems.md names exists", async () => {
  const missing: string[] = [];
  for (const { path, title } of named) {
    const source = await readFile(fileURLToPath(new URL(path, ROOT)), "utf8").catch(() => "");
    if (!source.includes(`"${title}"`)) missing.push(`${path}: ${title}`);
  }
  expect(missing).toEqual([]);
});
