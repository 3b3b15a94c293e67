import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

import { accountingSettings } from "../../src/accounting/index.ts";
import { complianceSettings } from "../../src/compliance/index.ts";
import { renderDialectEntries } from "./render-dialect.ts";

const PAGE = fileURLToPath(new URL("../../docs/dialect.md", import.meta.url));
const SERVICES = { compliance: complianceSettings(), accounting: accountingSettings() };

test("docs/dialect.md has what the schemas say of every setting", async () => {
  let page = await readFile(PAGE, "utf8");
  for (const [service, settings] of Object.entries(SERVICES)) {
    const [begin, end] = [`<!-- ${service}: made from its schema -->\n`, `<!-- ${service}: end -->`];
    const [before, made, ...others] = page.split(begin);
    const after = made?.slice(made.indexOf(end));
    if (before === undefined || !after?.startsWith(end) || others.length > 0)
      throw new Error(`${begin}${end}: not once`);
    page = `${before}${begin}\n${renderDialectEntries(settings)}\n${after}`;
  }
  await expect(page).toMatchFileSnapshot(PAGE);
});

test.each(Object.entries(SERVICES))("every setting of the %s dialect has a question for the provider", (_name, all) => {
  const incomplete = all.filter(
    ({ section, meaning, ifWrong, question }) =>
      [section, meaning, ifWrong].includes("") || !question.endsWith("?") || meaning.endsWith("."),
  );
  expect(incomplete.map(({ path }) => path)).toEqual([]);
  expect(new Set(all.map(({ path }) => path)).size).toBe(all.length);
});
