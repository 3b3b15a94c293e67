import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { examplesFolder, readDemoPlan } from "./plan.ts";

const EXAMPLES = examplesFolder();

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
  const { examples, business, apiKey } = await readDemoPlan(EXAMPLES);
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
  expect({ id: business.id, apiKey }).toEqual({ id: "biz_demo", apiKey: "cmp_sk_test_demo" });
});

it("the README says what each example of the demo plan shows", async () => {
  const readme = await readFile(join(EXAMPLES, "README.md"), "utf8");
  const { examples } = await readDemoPlan(EXAMPLES);
  expect(examples.filter(({ title }) => !readme.includes(`-${title.replaceAll(" ", "-")}.json\``))).toEqual([]);
});

it("the demo plan refuses an unknown field of a sale, and names the file", async () => {
  const folder = await copyOfExamples();
  await change(folder, "01-accepted-at-once.json", '"paymentTypeCode"', '"paymentType"');
  await expect(readDemoPlan(folder)).rejects.toThrow(
    /01-accepted-at-once\.json is not valid:\n {2}paymentType: unknown field/,
  );
});

it("the demo plan refuses a file that is not JSON, and names it", async () => {
  const folder = await copyOfExamples();
  await change(folder, "scenario.json", "{", "");
  await expect(readDemoPlan(folder)).rejects.toThrow(/scenario\.json is not valid:\n {2}expected a file with JSON/);
});

it("the demo plan is of a business of its own where a number can be used only once", async () => {
  const { business, scenario } = await readDemoPlan(EXAMPLES, "x1");
  expect(business.id).toBe("biz_demo_x1");
  expect(new Set(scenario.items.map(({ businessId }) => businessId))).toEqual(new Set(["biz_demo_x1"]));
});
