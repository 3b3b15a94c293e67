import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

import { renderConfigExample, renderConfigTable } from "../../src/config/index.ts";

const PAGE = fileURLToPath(new URL("../../docs/configuration.md", import.meta.url));

test("the page about the configuration is what the settings say", async () => {
  const page = `# Configuration

Variables come first; the file that \`FISCALFLOW_CONFIG\` names comes second, for several connections. Everything is checked before anything
connects, and all problems are told together. What each setting of a dialect means while it is wrong, and how to find it out, is on
[its own page](dialect.md). This page is made from the settings: \`npx vitest run test/docs -u\` writes it anew.

${renderConfigTable().trim()}

## The file, with every setting and its default

\`\`\`jsonc
${renderConfigExample().trim()}
\`\`\`
`;
  await expect(page).toMatchFileSnapshot(PAGE);
});
