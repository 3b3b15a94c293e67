import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = new URL("../../", import.meta.url);
const page = await readFile(fileURLToPath(new URL("docs/field-problems.md", ROOT)), "utf8");

const rows = [...page.matchAll(/^\| (\d+) \| .+ \(\*.+\*\) \| .+ \| (.+) \|$/gm)];
const named = rows.flatMap(([, , proofs = ""]) =>
  proofs.split("<br>").map((proof) => {
    const [, path = "", title = ""] = /^`([^`]+\.test\.ts)`: (.+)$/.exec(proof) ?? [];
    return { proof, path, title };
  }),
);

test("docs/field-problems.md has all 36 problems, each with where it was met, a decision and a proof", () => {
  expect(rows.map(([, number]) => Number(number))).toEqual(Array.from({ length: 36 }, (_, index) => index + 1));
  expect(named.length).toBeGreaterThan(70);
});

test("every test that docs/field-problems.md names exists", async () => {
  const missing: string[] = [];
  for (const { proof, path, title } of named) {
    const source = await readFile(fileURLToPath(new URL(path, ROOT)), "utf8").catch(() => "");
    if (title === "" || !source.includes(`"${title}"`)) missing.push(proof);
  }
  expect(missing).toEqual([]);
});
