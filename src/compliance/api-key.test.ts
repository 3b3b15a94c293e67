import fc from "fast-check";
import { expect, test } from "vitest";
import { requireApiKey } from "./client.ts";
import { ComplianceConfigurationError } from "./errors.ts";

test.each([
  "",
  "cmp_sk_test_",
  "sk_development_verysecret",
  "cmp_sk_live_very secret",
  "cmp_sk_live_verysecret\n",
  " cmp_sk_live_verysecret",
])("the key %j is refused with both forms named, and never quoted", (value) => {
  const refused = () => requireApiKey(value);
  expect(refused).toThrow(ComplianceConfigurationError);
  expect(refused).toThrow(/cmp_sk_test_.*cmp_sk_live_/);
  expect(refused).not.toThrow(/secret/);
});

test("only a well-formed key is accepted, and it can stand in a header", () => {
  const outcomeOf = (value: string): string => {
    try {
      return requireApiKey(value);
    } catch (error) {
      return error instanceof ComplianceConfigurationError ? "refused" : "broken";
    }
  };
  const keyLike = fc.string().map((tail) => `cmp_sk_live_${tail}`);
  fc.assert(
    fc.property(fc.oneof(fc.string(), keyLike), (value) => {
      expect(outcomeOf(value)).toMatch(/^(refused|cmp_sk_(live|test)_[!-~]+)$/);
    }),
  );
});
