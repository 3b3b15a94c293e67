import { readdir } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

const TEST_FOLDER = fileURLToPath(new URL("..", import.meta.url));

/** Task queues have fixed names, so each suite has a namespace of its own, called after its file. */
export function namespaceOf(testPath: string): string {
  return `test-${basename(testPath).replace(/\.test\.ts$/, "")}`;
}

export async function suiteNamespaces(): Promise<string[]> {
  const files = await readdir(TEST_FOLDER, { recursive: true });
  return files.filter((file) => file.endsWith(".test.ts")).map(namespaceOf);
}
