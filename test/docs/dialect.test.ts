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

The documentation of both services leaves names open: it does not show some, and replaces others by a neutral word. The
*dialect* is where an installation states the real names. Every default is fiscalflow's own choice. Each entry below
says which section of the service's documentation leaves the name open (“Also named” is its list of operations without
a description), what happens while the setting is wrong, and how to notice it. While a setting is wrong, nothing is lost
and nothing is done twice, with one exception: if \`createSale.idempotencyKey\` is \`trusted\` and the service ignores
the header, a sale whose answer is lost can be issued twice.

## Find the right values

\`\`\`sh
npx fiscalflow dialect            # harmless calls with the configured keys
npx fiscalflow dialect --write    # with a cmp_sk_test_ key: one sale, one credit note, one stock movement
npx fiscalflow dialect --check    # exit code 1 if the configured dialect does not fit
\`\`\`

The command prints each setting with what it found and what is configured, then the JSON for \`COMPLIANCE_DIALECT\` and
\`ACCOUNTING_DIALECT\`. If no call can reveal a setting, it prints a question for the provider. Without \`--write\` the
command reads, makes the service pull the latest supplier invoices once, and sends requests for ids that do not exist. It
makes one call at a time, leaves a quarter of each minute's requests to the worker, and prints no secret and no customer.
It recognises names in answers by their content, and names in requests by their effect: under the right name a page size
of 101 is refused, a cursor moves the page, a filter narrows the list, and a branch comes back in the answer.

\`--write\` asks before it writes (\`--yes\` answers the question), and refuses a live key. It first sends sales and
movements of an item that does not exist, which no service can accept, and varies the field names until the missing item
is the only reason for the refusal.
Then it issues one sale (its number begins with \`DIALECT-\`) and one credit note for it, and sends one movement of one
unit. It reports a write whose outcome is unknown, and never repeats it. \`--item\` names the item; without it, the
command takes the first registered item that is tracked in stock.

This page is generated from the schemas and their guides: \`npx vitest run test/docs -u\` updates it.

${compliance}
${accounting}`;
  await expect(page).toMatchFileSnapshot(PAGE);
});
