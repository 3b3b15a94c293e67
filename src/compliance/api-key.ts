import { ComplianceConfigurationError } from "./errors.ts";

/** `test` acts on sandbox businesses, `live` on production businesses (Fiscal Compliance API, "Authentication", 2). */
export type KeyKind = "test" | "live";

export interface ApiKey {
  kind: KeyKind;
  value: string;
}

const FORM = /^cmp_sk_(test|live)_[\x21-\x7e]+$/;

/** @throws ComplianceConfigurationError naming both forms, never the key. */
export function parseApiKey(value: string): ApiKey {
  const kind = FORM.exec(value)?.[1];
  if (kind === "test" || kind === "live") return { kind, value };
  throw new ComplianceConfigurationError("invalid-api-key", [
    `the key of the Compliance API is ${value === "" ? "empty" : "not of its form"}: ` +
      "it must begin with cmp_sk_test_ (sandbox businesses) or cmp_sk_live_ (production businesses) " +
      "and hold no spaces or line breaks",
  ]);
}
