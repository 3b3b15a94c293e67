import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";

import { TABLES } from "../../src/ledger/tables.ts";

const PAGE = new URL("../../docs/ledger.md", import.meta.url);

test("docs/ledger.md says of every table what it holds", async () => {
  const page = await readFile(PAGE, "utf8");
  const [, kept = ""] = /## What is kept\n([^]*?)\n## /.exec(page) ?? [];
  const cells = [...kept.matchAll(/^\| (`.*?`) \|/gm)].map(([, cell = ""]) => cell.replaceAll("`", ""));
  const named = cells.flatMap((cell) => cell.split(", "));
  expect(named.toSorted()).toEqual(Object.keys(TABLES).toSorted());
});
