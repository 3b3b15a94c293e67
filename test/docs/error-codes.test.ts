import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";

import { ERROR_CODES } from "../../src/contract/errors.ts";

test("the client's readme says of every error code what it means and what to do, and of no other", async () => {
  const page = await readFile(new URL("../../packages/client/README.md", import.meta.url), "utf8");
  const [, table = ""] = /\| code \| means \| what to do \|\n\| --- \| --- \| --- \|\n((?:\|.*\n)+)/.exec(page) ?? [];
  const rows = [...table.matchAll(/^\| `(\w+)` \| \S.+ \| \S.+ \|$/gm)].map(([, code]) => code);
  expect(rows).toEqual([...ERROR_CODES]);
});
