import { describe, expect, it } from "vitest";

import { ledgerOfSuite } from "./test-support/create-test-ledger.ts";
import type { Observation } from "./observations.ts";

const test = ledgerOfSuite();

const notRead: Observation = {
  service: "compliance",
  connection: "default",
  kind: "not-read",
  subject: "stock.report",
  value: "fiscal",
  message: "the answer has no fiscal",
};

describe("observations", () => {
  it("are one for each connection, subject and value, with how often and since when it was seen", async () => {
    const { observations } = test.ledger;
    await observations.note(notRead, 1);
    await observations.note({ ...notRead, message: "the latest words" }, 41);
    await observations.note({ ...notRead, businessId: "biz_2", value: null }, 3);
    const kept = await observations.list(7);
    expect(kept).toHaveLength(2);
    expect(kept).toContainEqual({
      ...notRead,
      message: "the latest words",
      count: 42,
      firstSeenAtMs: expect.any(Number),
      lastSeenAtMs: expect.any(Number),
    });
    expect(kept).toContainEqual(expect.objectContaining({ businessId: "biz_2", value: null, count: 3 }));
  });

  it("are not listed any more once they were not seen for days", async () => {
    const { observations } = test.ledger;
    await observations.note({ ...notRead, subject: "long ago" }, 1);
    await test.outside.query("update observations set last_seen_at = now() - interval '8 days' where subject = $1", [
      "long ago",
    ]);
    expect((await observations.list(7)).map(({ subject }) => subject)).not.toContain("long ago");
  });
});
