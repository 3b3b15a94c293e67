import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { examplesFolder } from "./examples-folder.ts";
import { readDemoPlan } from "./read-demo-plan.ts";
import { renumber } from "./renumber.ts";
import { EXAMPLES } from "./test-support/refunded-sale.ts";

/** A copy of the examples, to be spoiled. */
async function copyOfExamples(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "fiscalflow-examples-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await cp(EXAMPLES, folder, { recursive: true });
  return folder;
}

async function change(folder: string, name: string, from: string, to: string): Promise<void> {
  const path = join(folder, name);
  const text = await readFile(path, "utf8");
  expect(text).toContain(from);
  await writeFile(path, text.replace(from, to));
}

it("the demo plan has the package's examples, each a valid sale input", async () => {
  const { examples, businessId, apiKey } = await readDemoPlan(examplesFolder(), EXAMPLES);
  expect(examples.map(({ title, expected }) => `${title}: ${expected.stage}`)).toEqual([
    "accepted at once: completed",
    "finished by callback: completed",
    "finished by polling: completed",
    "item registered on the way: completed",
    "rejected then accepted: completed",
    "several lines of one item: completed",
    "refunded with a credit note: credited",
    "issued elsewhere and adopted: completed",
    "needs an operator: completed",
  ]);
  expect({ businessId, apiKey }).toEqual({ businessId: "biz_demo", apiKey: "cmp_sk_test_demo" });
});

it("the README says what each example of the demo plan shows", async () => {
  const readme = await readFile(join(EXAMPLES, "README.md"), "utf8");
  const { examples } = await readDemoPlan(EXAMPLES, EXAMPLES);
  expect(examples.filter(({ path }) => !readme.includes(`\`${path}\``))).toEqual([]);
});

it("the demo plan refuses an unknown field of a sale, and names the file", async () => {
  const folder = await copyOfExamples();
  await change(folder, "01-accepted-at-once.json", '"paymentTypeCode"', '"paymentType"');
  await expect(readDemoPlan(folder, folder)).rejects.toThrow(
    "The 01-accepted-at-once.json is not valid:\n  paymentType: unknown field",
  );
});

it("the demo plan refuses a file that is not JSON, and names it", async () => {
  const folder = await copyOfExamples();
  await change(folder, "scenario.json", "{", "");
  await expect(readDemoPlan(folder, folder)).rejects.toThrow(
    /scenario\.json is not valid:\n {2}expected a file with JSON/,
  );
});

it("the demo plan refuses refunds and expectations of unknown numbers, all together", async () => {
  const folder = await copyOfExamples();
  await change(folder, "07-refunded-with-a-credit-note.json", "DUKA-1007", "DUKA-1008");
  await expect(readDemoPlan(folder, folder)).rejects.toThrow(
    [
      "The scenario.json is not valid:",
      '  refunds[0].invoice: expected the number of one of the examples, found "DUKA-1007"',
      '  expected.DUKA-1007: expected the number of one of the examples, found "DUKA-1007"',
      "  08-issued-elsewhere-and-adopted.json: expected a number of its own, found DUKA-1008 for the second time",
    ].join("\n"),
  );
});

it("the demo plan gets a suffix on every number where a number can be used only once", async () => {
  const { examples, scenario } = renumber(await readDemoPlan(EXAMPLES, EXAMPLES), "x1");
  const numbers = examples.map(({ input }) => input.traderInvoiceNumber);
  expect(numbers).toEqual(examples.map(({ invoice }) => invoice));
  expect(numbers.at(0)).toBe("DUKA-1001-x1");
  expect(examples.flatMap(({ refund }) => refund?.traderInvoiceNumber ?? [])).toEqual(["CN-DUKA-1007-x1"]);
  expect(Object.keys(scenario.authority.documents)).toContain("CN-DUKA-1007-x1");
  expect(scenario.sales.map(({ traderInvoiceNumber }) => traderInvoiceNumber)).toEqual(["DUKA-1008-x1"]);
});
