import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";

interface Workflow {
  jobs: Record<string, { steps: { name?: string; run?: string; with?: Record<string, unknown> }[] }>;
}
const RELEASE = readFileSync(resolve(import.meta.dirname, "../.github/workflows/release.yml"), "utf8");
const { jobs } = parse(RELEASE) as Workflow;
/** Only GitHub can say which workflow it was. */
const PUBLISH = jobs["npm"]?.steps.find(({ run }) => run?.includes("npm publish"))?.run?.replace(" --provenance", "");

const folder = mkdtempSync(join(tmpdir(), "fiscalflow-release-"));
const published: string[] = [];
/** Has the first package's version, and none of the second. */
const registry = createServer((request, response) => {
  request.resume();
  const name = decodeURIComponent(request.url?.slice(1) ?? "");
  const answer = (status: number, body: object): void =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  if (request.method === "PUT") {
    published.push(name);
    answer(201, {});
  } else if (name !== "@till/there") answer(404, { error: "Not found" });
  else answer(200, { name, "dist-tags": { latest: "1.0.0" }, versions: { "1.0.0": { name, version: "1.0.0" } } });
});

beforeAll(async () => {
  mkdirSync(join(folder, "packed"));
  for (const name of ["there", "till"]) {
    const source = join(folder, name);
    mkdirSync(source);
    writeFileSync(join(source, "package.json"), JSON.stringify({ name: `@till/${name}`, version: "1.0.0" }));
    execFileSync("npm", ["pack", "--pack-destination", join(folder, "packed")], { cwd: source, stdio: "ignore" });
  }
  registry.listen(0, "127.0.0.1");
  await once(registry, "listening");
});
afterAll(() => {
  registry.close();
  rmSync(folder, { recursive: true });
});

test("a release says of each package and of the image where it comes from and what is in it", () => {
  const runs = (job: string) => (jobs[job]?.steps ?? []).flatMap(({ run }) => run ?? []);
  expect(runs("npm").filter((run) => run.includes("npm publish"))).toEqual([expect.stringContaining(" --provenance ")]);
  expect(runs("pack").filter((run) => run.includes("npm sbom"))).toHaveLength(1);
  const image = jobs["image"]?.steps.find(({ with: options }) => options?.["push"] === true)?.with;
  // With the version's v as the tag of git has it, and without as Kubernetes is told.
  const tags = ["github.ref_name", "steps.version.outputs.version"].map(
    (name) => `ghcr.io/\${{ github.repository }}:\${{ ${name} }}\n`,
  );
  expect(image).toMatchObject({ provenance: "mode=max", sbom: true, tags: tags.join("") });
});

test("a release that is run again publishes what the run before has not", async () => {
  const at = `127.0.0.1:${(registry.address() as AddressInfo).port}`;
  const child = spawn("bash", ["-e", "-c", PUBLISH ?? "false"], {
    cwd: folder,
    env: {
      PATH: process.env["PATH"],
      HOME: folder,
      npm_config_registry: `http://${at}`,
      [`npm_config_//${at}/:_authToken`]: "token",
      npm_config_fetch_retries: "0",
      npm_config_update_notifier: "false",
    },
    stdio: "ignore",
  });
  expect(await once(child, "exit")).toEqual([0, null]);
  expect(published).toEqual(["@till/till"]);
});
