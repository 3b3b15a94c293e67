import { expect, test } from "vitest";

import { loadConfig } from "../../config/index.ts";
import { configuredNote } from "./asked.ts";

const config = loadConfig({
  env: {
    COMPLIANCE_BASE_URL: "https://compliance.example.com",
    COMPLIANCE_API_KEY: "cmp_sk_test_nobody",
    COMPLIANCE_BUSINESS_ID: "biz_1",
    COMPLIANCE_BUSINESSES: "biz_2,biz_3",
  },
});
const of = (businessId: string) => ({ connection: "default", businessId });

test("a report of all configured businesses, or of more, needs no note", () => {
  expect(configuredNote(config, {}, ["biz_1", "biz_2", "biz_3", "biz_old"].map(of))).toBeUndefined();
  expect(configuredNote(config, { business: "biz_2" }, [of("biz_2")])).toBeUndefined();
  expect(configuredNote(config, { business: "biz_old" }, [of("biz_old")])).toBeUndefined();
});

test("configured businesses that the ledger knows no document of are named", () => {
  expect(configuredNote(config, {}, [of("biz_2")])).toBe(
    "Configured, and without documents in the ledger: biz_1 (connection default), biz_3 (connection default).",
  );
  expect(configuredNote(config, { business: "biz_3" }, [])).toContain("ledger: biz_3 (connection default).");
});

test("a business of another connection does not count as the configured one of the same name", () => {
  const elsewhere = { connection: "other", businessId: "biz_1" };
  expect(configuredNote(config, { business: "biz_1" }, [elsewhere])).toContain("biz_1 (connection default)");
});

test("of many configured businesses without documents, the first are named", () => {
  const businesses = Array.from({ length: 12 }, (_, n) => `biz_${n}`);
  const [connection] = config.compliance;
  if (!connection) throw new Error("the settings describe a connection");
  expect(configuredNote({ compliance: [{ ...connection, businesses }] }, {}, [])).toMatch(
    /biz_9 \(connection default\), and 2 more\.$/,
  );
});
