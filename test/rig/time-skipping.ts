import { existsSync } from "node:fs";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { TestWorkflowEnvironment } from "@temporalio/testing";

import { cacheFolder } from "../../src/servers/find-temporal-cli.ts";
import { makeFolder } from "../../src/servers/make-folder.ts";
import { runCommand } from "../../src/servers/run-command.ts";
import { findOnPath } from "./find-on-path.ts";

/** Of Temporal's Java SDK. */
const VERSION = "1.31.0";
const COPY_DEPENDENCIES = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";

/** slf4j-nop keeps the server from warning on every start that it has nowhere to log to. */
const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>fiscalflow</groupId>
  <artifactId>test-server</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>io.temporal</groupId><artifactId>temporal-test-server</artifactId><version>${VERSION}</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-nop</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
`;

/** The SDK gives the server five seconds to answer; these options halve the time that a JVM takes. */
const LAUNCHER = [
  "#!/bin/sh",
  'here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)',
  'exec "${JAVA_HOME:+$JAVA_HOME/bin/}java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto \\',
  '  -cp "$here/lib/*" io.temporal.testserver.TestServer "$@"',
  "",
].join("\n");

/** On a busy machine the five seconds may not do. */
const MOST_STARTS = 20;

/** A server that skips time. A machine without Maven gets it by the SDK's own download. */
export async function startTimeSkipping(): Promise<TestWorkflowEnvironment> {
  const path = process.env["TEMPORAL_TEST_SERVER_PATH"] || (await testServerByMaven());
  const executable = path ? ({ type: "existing-path", path } as const) : undefined;
  for (let starts = 1; ; starts++) {
    try {
      return await TestWorkflowEnvironment.createTimeSkipping(executable && { server: { executable } });
    } catch (error) {
      if (starts >= MOST_STARTS) throw error;
    }
  }
}

/** From the cache, or with Maven from its registry; undefined where there is no Maven. */
export async function testServerByMaven(): Promise<string | undefined> {
  const { env } = process;
  const place = join(cacheFolder(env), `temporal-test-server-${VERSION}`);
  const path = join(place, "temporal-test-server");
  if (existsSync(path)) return path;
  const maven = findOnPath("mvn");
  if (maven === undefined) return undefined;
  process.stderr.write(`fetching the time-skipping test server ${VERSION} with Maven\n`);
  await makeFolder(place, async (folder) => {
    await writeFile(join(folder, "pom.xml"), POM);
    const copy = ["-q", "-B", "-f", "pom.xml", COPY_DEPENDENCIES, "-DincludeScope=runtime", "-DoutputDirectory=lib"];
    await runCommand(maven, copy, { env, cwd: folder, timeoutMs: 10 * 60_000 });
    await writeFile(join(folder, "temporal-test-server"), LAUNCHER);
    await chmod(join(folder, "temporal-test-server"), 0o755);
  });
  return path;
}
