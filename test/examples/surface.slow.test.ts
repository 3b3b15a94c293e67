import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { API } from "typescript/unstable/sync";
import { afterAll, beforeAll, expect, test } from "vitest";

import { refundRequestSchema, saleInputSchema } from "../../src/contract/schema/sale.ts";
import { UPDATE_FORMS } from "../../src/contract/updates.ts";
import { problemsOf } from "../../workflows/operator/updates.ts";
import { compileStrictly, type Consumer, createConsumer, PACKAGES } from "./consumer.ts";
import { answers, answersThatAreNone, refunds, refundsThatAreNone, sales, salesThatAreNone } from "./inputs.ts";

const INPUTS = fileURLToPath(new URL("inputs.ts", import.meta.url));
const NEXUS = fileURLToPath(new URL("../../docs/nexus.md", import.meta.url));
const SURFACE = fileURLToPath(new URL("surface.txt", import.meta.url));

let consumer: Consumer;
beforeAll(async () => {
  consumer = await createConsumer();
});
afterAll(() => consumer.remove());

/** All names of each entry, values and types, as the compiler sees them through the package's declarations. */
async function declaredNames(entries: readonly string[]): Promise<string[][]> {
  const files = entries.map((_, n) => `entry-${n}.ts`);
  const config = join(consumer.folder, "surface.json");
  const compilerOptions = { module: "node16", moduleResolution: "node16", target: "es2023", types: ["node"] };
  for (const [n, entry] of entries.entries())
    await writeFile(join(consumer.folder, `entry-${n}.ts`), `export * from "${entry}";\n`);
  await writeFile(config, JSON.stringify({ compilerOptions, files }));
  const api = new API();
  try {
    const [project] = api.updateSnapshot({ openProjects: [config] }).getProjects();
    return files.map((file) => {
      const source = project?.program.getSourceFile(join(consumer.folder, file));
      const module = source && project?.checker.getSymbolAtLocation(source);
      if (!project || !module) throw new Error(`the compiler finds no module in ${file}`);
      const names = project.checker.getExportsOfModule(module).map(({ name }) => name);
      return names.toSorted();
    });
  } finally {
    api.close();
  }
}

test("surface.txt lists what the packages export (vitest -u writes it anew)", async () => {
  const entries = PACKAGES.flatMap((name) =>
    Object.keys(consumer.manifests[name].exports)
      .filter((path) => !path.endsWith(".json"))
      .map((path) => path.replace(/^\./, `@fiscalflow/${name}`)),
  );
  const declared = await declaredNames(entries);
  const sections: string[] = [];
  for (const [n, entry] of entries.entries()) {
    const names = declared[n] ?? [];
    const values = await consumer.valuesOf(entry);
    expect({ entry, values: values.length > 0 }).toEqual({ entry, values: true });
    expect({ entry, names }).toEqual({ entry, names: expect.arrayContaining(values) });
    const types = names.filter((name) => !values.includes(name));
    const lines = [...values.map((name) => `  ${name}`), ...types.map((name) => `  type ${name}`)];
    sections.push([entry, ...lines].join("\n"));
  }
  await expect(`${sections.join("\n\n")}\n`).toMatchFileSnapshot(SURFACE);
});

test("the types of the inputs allow what their schemas accept, and nothing of what they refuse", async () => {
  await cp(INPUTS, join(consumer.folder, "inputs.ts"));
  const node16 = { module: "node16", moduleResolution: "node16" };
  await compileStrictly(consumer.folder, ["inputs.ts"], node16);
  await compileStrictly(consumer.folder, ["inputs.ts"], { ...node16, skipLibCheck: true });
  await consumer.compile({ ...node16, skipLibCheck: true });
  for (const [schema, accepted, refused] of [
    [saleInputSchema, sales, salesThatAreNone],
    [refundRequestSchema, refunds, refundsThatAreNone],
  ] as const) {
    for (const input of accepted)
      expect(schema.safeParse(input), JSON.stringify(input)).toMatchObject({ success: true });
    for (const input of refused)
      expect(schema.safeParse(input), JSON.stringify(input)).toMatchObject({ success: false });
  }
  for (const input of answers) expect(problemsOf(UPDATE_FORMS.resolveDocument, input)).toEqual([]);
  for (const input of answersThatAreNone) expect(problemsOf(UPDATE_FORMS.resolveDocument, input)).not.toEqual([]);
});

test("the workflow in the page on Nexus compiles, strictly", async () => {
  const [, program = ""] = /```ts\n([^]+?)```/.exec(await readFile(NEXUS, "utf8")) ?? [];
  expect(program).toContain('from "@fiscalflow/client/nexus"');
  await writeFile(join(consumer.folder, "order.ts"), program);
  const node16 = { module: "node16", moduleResolution: "node16" };
  await compileStrictly(consumer.folder, ["order.ts"], { ...node16, skipLibCheck: true });
});
