import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

import { ACCOUNTING_NEUTRAL_WORDS } from "../../src/accounting/dialect-guide.ts";
import { COMPLIANCE_NEUTRAL_WORDS } from "../../src/compliance/dialect-guide.ts";
import { renderDialect } from "../../src/dialect/render-dialect-page.ts";
import { accountingSettings, complianceSettings } from "../../src/dialect/services.ts";

const PAGE = fileURLToPath(new URL("../../docs/dialect.md", import.meta.url));

test("docs/dialect.md is generated from the schemas and the guides", async () => {
  const compliance = renderDialect({
    title: "The Compliance API",
    variable: "COMPLIANCE_DIALECT",
    settings: complianceSettings,
    neutralWords: COMPLIANCE_NEUTRAL_WORDS,
  });
  const accounting = renderDialect({
    title: "The Accounting Service",
    variable: "ACCOUNTING_DIALECT",
    settings: accountingSettings,
    neutralWords: ACCOUNTING_NEUTRAL_WORDS,
  });
  const page = `# The dialect

The documentation of both services leaves names open: some are not shown, others are replaced by a neutral word. The *dialect* is
where an installation states the real ones. Every default is fiscalflow's own choice. While a setting is wrong, nothing is lost and
nothing is done twice; each entry below says what happens instead, and how to notice it. There is one exception: if
\`createSale.idempotencyKey\` is \`trusted\` and the service ignores the header, a sale whose answer is lost can be issued twice.

## Find the right values

\`\`\`sh
npx fiscalflow dialect            # harmless calls with the configured keys
npx fiscalflow dialect --write    # with a cmp_sk_test_ key: one sale, one credit note, one stock movement
npx fiscalflow dialect --check    # exit code 1 if the configured dialect does not fit
\`\`\`

The command prints what it found beside what is configured, the JSON for \`COMPLIANCE_DIALECT\` and \`ACCOUNTING_DIALECT\`, and a
question for the provider for each setting that no call can reveal. Without \`--write\` it reads, pulls the latest supplier invoices once, and sends requests for ids that do
not exist. It makes one call at a time, leaves a quarter of each minute's requests to the worker, and prints
no secret and no customer. Names in answers are found by their content; names in requests by their effect: a page size of 101 is refused under the right name, a
cursor moves the page, a filter narrows the list, a branch comes back in the answer.

\`--write\` asks before it writes (\`--yes\` answers), and refuses a live key. It first sends sales and movements of an item that does not exist, which no
service can accept, until the item is the only reason for the refusal. Then it issues one sale (its number begins with \`DIALECT-\`), one credit note for it
and one movement of one unit. A write whose outcome is unknown is reported and never repeated. \`--item\` names the item; otherwise it is the first
registered item that is tracked in stock.

This page is generated from the schemas and their guides: \`npx vitest run test/docs -u\` updates it.

${compliance}
${accounting}`;
  await expect(page).toMatchFileSnapshot(PAGE);
});
