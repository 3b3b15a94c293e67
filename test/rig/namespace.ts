import { readdir } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const TEST_FOLDER = fileURLToPath(new URL("..", import.meta.url));

/** Task queues have fixed names, so each suite has a namespace of its own, called after its file and folder. */
export function namespaceOf(testPath: string): string {
  const path = relative(TEST_FOLDER, resolve(TEST_FOLDER, testPath));
  return `test-${path.replace(/\.test\.ts$/, "").replaceAll(/[^a-zA-Z0-9]+/g, "-")}`;
}

/** Of callers through Nexus, which have no worker of fiscalflow. */
export const CALLER_NAMESPACE = "test-web-shop";

/** @param paths of the suites; default: all */
export async function suiteNamespaces(paths?: readonly string[]): Promise<string[]> {
  const files = paths ?? (await readdir(TEST_FOLDER, { recursive: true }));
  return files
    .filter((file) => file.endsWith(".test.ts"))
    .map(namespaceOf)
    .concat(CALLER_NAMESPACE);
}
