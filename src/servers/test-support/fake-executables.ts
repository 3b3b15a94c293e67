import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

/** What the real one prints. */
const GOOD_VERSION = "temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)";

/** A folder with executables that the test writes, and an environment that knows nothing but them. */
export interface FakeMachine {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /**
   * Writes a shell script and returns its path. Relative paths start at the folder; `bin` is on PATH, `cache` is the
   * cache.
   */
  script(path: string, body: string): Promise<string>;
}

/** Without network: downloads fail at once, since their proxy is a port where nobody listens. */
export async function fakeMachine(): Promise<FakeMachine> {
  const folder = await mkdtemp(join(tmpdir(), "fiscalflow-embedded-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return {
    folder,
    env: {
      // Scripts need a shell's own tools; neither folder has a temporal, go or mvn of its own in the tests' sense.
      PATH: join(folder, "bin"),
      FISCALFLOW_CACHE: join(folder, "cache"),
      HTTPS_PROXY: "http://127.0.0.1:1",
      HTTP_PROXY: "http://127.0.0.1:1",
    },
    script: async (path, body) => {
      const file = join(folder, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, `#!/bin/sh\nPATH=/usr/bin:/bin\n${body}\n`);
      await chmod(file, 0o755);
      return file;
    },
  };
}

/** Answers `--version` as the Temporal CLI does. */
export function versionScript(answer: string = GOOD_VERSION): string {
  return `[ "$1" = --version ] && echo '${answer}'`;
}
