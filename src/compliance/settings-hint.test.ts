import { expect, test } from "vitest";

import { complianceSettings } from "./dialect.ts";
import { operation, SHOWN_OPERATIONS } from "./operations.ts";
import { settingsHint } from "./settings-hint.ts";

test("the hint of a refusal names the settings of the request and where to set them", () => {
  expect(settingsHint("pullPurchases")).toContain("set pull.path or pull.businessIdIn in COMPLIANCE_DIALECT");
  expect(settingsHint("createCreditNote", ["errors.alreadyCredited"])).toContain(
    "set errors.alreadyCredited or creditNote.businessIdIn in COMPLIANCE_DIALECT",
  );
  expect(settingsHint("getSale")).toBe("");
});

test("every name that a hint mentions is one of the dialect's settings, or a group of them", () => {
  const paths = complianceSettings().map(({ path }) => path);
  const named = SHOWN_OPERATIONS.flatMap(
    (name) => settingsHint(operation(name).name).match(/[a-zA-Z]+(?:\.[a-zA-Z*]+)+/g) ?? [],
  );
  expect(named.length).toBeGreaterThan(15);
  expect(
    named.filter((name) => !paths.some((path) => path === name || path.startsWith(name.replace("*", "")))),
  ).toEqual([]);
});
