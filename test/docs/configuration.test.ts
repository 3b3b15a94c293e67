import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

import { parseAccountingDialect } from "../../src/accounting/index.ts";
import { parseDialect } from "../../src/compliance/index.ts";
import { loadConfig, renderConfigExample, renderConfigTable } from "../../src/config/index.ts";
import { renderDialectExample } from "../../src/dialect/render-dialect-example.ts";
import { accountingSettings, complianceSettings } from "../../src/dialect/services.ts";

const PAGE = fileURLToPath(new URL("../../docs/configuration.md", import.meta.url));
const DIALECTS = {
  compliance: renderDialectExample(complianceSettings),
  accounting: renderDialectExample(accountingSettings),
};

test("the page about the configuration is what the settings say", async () => {
  const page = `# Configuration

Variables come first; the file that \`FISCALFLOW_CONFIG\` names comes second, for several connections. Everything is checked before anything
connects, and all problems are told together. What each setting of a dialect means while it is wrong, and how to find it out, is on
[its own page](dialect.md). This page is made from the settings: \`npx vitest run test/docs -u\` writes it anew.

${renderConfigTable().trim()}

## The file, with every setting and its default

\`\`\`jsonc
${renderConfigExample(DIALECTS).trim()}
\`\`\`
`;
  await expect(page).toMatchFileSnapshot(PAGE);
});

test("the example's dialects are the defaults of both services", () => {
  const env = { SHOP_COMPLIANCE_API_KEY: "cmp_sk_test_a", SHOP_ACCOUNTING_API_KEY: "sk_production_b" };
  const config = loadConfig({ env, configFileText: renderConfigExample(DIALECTS) });
  expect(parseDialect(config.compliance[0]?.dialect)).toEqual(parseDialect());
  expect(parseAccountingDialect(config.accounting[0]?.dialect)).toEqual(parseAccountingDialect());
});
