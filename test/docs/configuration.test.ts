import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

import { accountingSettings, parseAccountingDialect } from "../../src/accounting/index.ts";
import { complianceSettings, parseDialect } from "../../src/compliance/index.ts";
import { loadConfig } from "../../src/config/index.ts";
import { renderConfigExample, renderConfigTable } from "../../src/config/test-support/config-reference.ts";
import { withFile } from "../../src/config/test-support/load.ts";
import { renderDialectExample } from "./render-dialect.ts";

const PAGE = fileURLToPath(new URL("../../docs/configuration.md", import.meta.url));
const DIALECTS = {
  compliance: renderDialectExample(complianceSettings()),
  accounting: renderDialectExample(accountingSettings()),
};

test("docs/configuration.md is generated from the settings", async () => {
  const page = `# Configuration

Environment variables take precedence over the file that \`FISCALFLOW_CONFIG\` names; the file is for several
connections. fiscalflow checks the whole configuration before it connects to anything, and reports all problems
together. A variable that begins with \`COMPLIANCE_\`, \`ACCOUNTING_\`, \`CALLBACK_\`, \`FISCALFLOW_\` or \`LEDGER_\` and is not
known is a problem if it is nearly a known one, or begins with \`FISCALFLOW_TIMING_\`; otherwise it may be another
program's, and the log and \`doctor\` warn of it. Nobody looks for slips in the names of the others. [The
dialect](dialect.md) says what happens while a setting of a dialect is wrong, and how to find its right value. This
page is generated from the settings: \`npx vitest run test/docs -u\` updates it.

${renderConfigTable().trim()}

## Secrets that change without a restart

A secret that the file gives as \`{ "file": "PATH" }\` is read again every 5 seconds, and at once when a service answers
401: \`apiKey\` of a connection; \`clientSecret\` and \`webhookSecrets\` of the accounting service; \`callbacks.secrets\`;
\`codec.token\`. A call that was refused with the replaced key is sent again with the new one, and no sale waits for an
operator. A secret that comes from a variable, \`payloads.keys\`, \`ledger.url\`, \`ledger.ownerUrl\`, and Temporal's key and
certificates are read at the start only. To add or to remove a connection, restart the workers one after another.

A file that is missing, empty, of a wrong form, of the other environment (test or live, development or production), or
that has the key of another connection changes nothing: the value of before stays in use. The process logs one warning,
and the metric \`fiscalflow_secret_file_refused\` of the worker or the receiver is 1 until the file can be used. To
change a file by hand, write a new one beside it and rename it. A secret mounted by Kubernetes needs nothing more,
unless it is mounted with \`subPath\`: Kubernetes never changes such a file.

To rotate a key: create the new one, let the file have it, wait until every worker has logged \`a secret was replaced\`,
then revoke the old one. If the old key is revoked first, sales show \`credentials\` until the file has the new one.

To rotate a callback secret, list two files. Give the second file the secret of the first one, then the first file a new
secret: new callback URLs are signed with the first, and both are accepted. Sales whose URL is signed with a secret that
no file has any more are finished by polling.

## The file, with every setting and its default

\`\`\`jsonc
${renderConfigExample(DIALECTS).trim()}
\`\`\`
`;
  await expect(page).toMatchFileSnapshot(PAGE);
});

test("the example's dialects are the defaults of both services", () => {
  const env = { SHOP_COMPLIANCE_API_KEY: "cmp_sk_test_a", SHOP_ACCOUNTING_API_KEY: "sk_development_b" };
  const config = loadConfig(withFile(env, renderConfigExample(DIALECTS)));
  expect(config.compliance[0]?.dialect).toEqual(parseDialect());
  expect(config.accounting[0]?.dialect).toEqual(parseAccountingDialect());
});
