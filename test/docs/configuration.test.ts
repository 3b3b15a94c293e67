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

test("docs/configuration.md is generated from the settings", async () => {
  const page = `# Configuration

Environment variables take precedence over the file that \`FISCALFLOW_CONFIG\` names; the file is for several connections.
fiscalflow checks the whole configuration before it connects to anything, and reports all problems together.
[The dialect](dialect.md) says what happens while a setting of a dialect is wrong, and how to find its right value. This
page is generated from the settings: \`npx vitest run test/docs -u\` updates it.

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
