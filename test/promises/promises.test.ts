import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";

import { promises } from "./promises.ts";

const NEXT = resolve(import.meta.dirname, "next-release.txt");
const LAST = resolve(import.meta.dirname, "last-release.txt");

test("next-release.txt lists what the next release promises (vitest -u writes it anew)", async () => {
  await expect(`${promises().join("\n")}\n`).toMatchFileSnapshot(NEXT);
});

// `npm run release` writes it. With a new major version it is deleted.
test("what the last release of this major version promised holds", () => {
  const promised = existsSync(LAST) ? readFileSync(LAST, "utf8").trimEnd().split("\n") : [];
  const today = new Set(promises());
  expect(promised.filter((one) => !today.has(one))).toEqual([]);
});
