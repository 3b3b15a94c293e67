import { chmod, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findOnPath } from "./find-on-path.ts";
import { runBounded } from "./run-bounded.ts";
import { TEST_SERVER_VERSION } from "./versions.ts";

const MAVEN_TIMEOUT_MS = 10 * 60_000;
const COPY_DEPENDENCIES = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";

/** slf4j-nop keeps the server from warning on every start that it has nowhere to log to. */
const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>fiscalflow</groupId>
  <artifactId>test-server</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>io.temporal</groupId><artifactId>temporal-test-server</artifactId><version>${TEST_SERVER_VERSION}</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-nop</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
`;

/**
 * The SDK gives the server five seconds from start to first answer; these options halve the time a JVM takes to get
 * there.
 */
const LAUNCHER = [
  "#!/bin/sh",
  'here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)',
  'exec "${JAVA_HOME:+$JAVA_HOME/bin/}java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto \\',
  '  -cp "$here/lib/*" io.temporal.testserver.TestServer "$@"',
  "",
].join("\n");

export interface MavenTestServer {
  /** Receives the jars, in `lib`, and a script that runs them. */
  readonly folder: string;
  readonly executable: string;
  readonly env: NodeJS.ProcessEnv;
  readonly onProgress: (line: string) => void;
}

/** Has Maven fetch the test server and what it needs. Returns what went wrong. */
export async function fetchTestServerByMaven(fetch: MavenTestServer): Promise<string | undefined> {
  const { folder, executable, env, onProgress } = fetch;
  if (process.platform === "win32") return "needs a POSIX shell";
  const maven = await findOnPath("mvn", env);
  if (maven === undefined) return "no `mvn` on PATH";
  onProgress(`fetching the time-skipping test server ${TEST_SERVER_VERSION} with Maven`);
  const pom = join(folder, "pom.xml");
  await writeFile(pom, POM);
  const args = [
    "-q",
    "-B",
    "-f",
    pom,
    COPY_DEPENDENCIES,
    "-DincludeScope=runtime",
    `-DoutputDirectory=${join(folder, "lib")}`,
  ];
  const run = await runBounded(maven, args, { env, cwd: folder, timeoutMs: MAVEN_TIMEOUT_MS });
  if (!run.succeeded) return run.problem;
  await rm(pom);
  await writeFile(join(folder, executable), LAUNCHER);
  await chmod(join(folder, executable), 0o755);
  return undefined;
}
