import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { findOnPath } from "./find-on-path.ts";
import { runBounded } from "./run-bounded.ts";
import { TEMPORAL_CLI_VERSION } from "./versions.ts";

export interface GoProgram {
  /** For people, with its version. */
  readonly name: string;
  /** How long its build takes, for people. */
  readonly takes: string;
  /** Its path and version, as `go install` takes them. */
  readonly package: string;
  /** Where it keeps its own version, as `-X` of the linker takes it. */
  readonly versionVariable?: string;
}

export const TEMPORAL_CLI: GoProgram = {
  name: `the Temporal CLI ${TEMPORAL_CLI_VERSION}`,
  takes: "about 3 minutes",
  package: `github.com/temporalio/cli/cmd/temporal@v${TEMPORAL_CLI_VERSION}`,
  versionVariable: `github.com/temporalio/cli/temporalcli.Version=${TEMPORAL_CLI_VERSION}`,
};

/** Three minutes on two cores; a slow line and a slow laptop together may take several times as long. */
const BUILD_TIMEOUT_MS = 30 * 60_000;
const TELL_EVERY_MS = 5_000;

export interface GoInstall {
  readonly program: GoProgram;
  /** Receives the executable. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly onProgress: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/** Builds a program with the Go toolchain. Returns what went wrong. */
export async function goInstall({ program, folder, env, onProgress, signal }: GoInstall): Promise<string | undefined> {
  const go = await findOnPath("go", env);
  if (go === undefined) return "no `go` on PATH";
  const startedAtMs = Date.now();
  const counts = { modules: 0, packages: 0 };
  onProgress(`building ${program.name} with go, once, for ${program.takes}`);
  const tell = setInterval(() => {
    const seconds = Math.round((Date.now() - startedAtMs) / 1_000);
    onProgress(
      `building ${program.name}: ${seconds} s, ${counts.modules} modules downloaded, ${counts.packages} packages compiled`,
    );
  }, TELL_EVERY_MS);
  const temporaryFiles = join(folder, "go-tmp");
  await mkdir(temporaryFiles);
  try {
    // -v names each package as it is compiled. Without the symbol tables the executable is a third smaller.
    const flags = ["-s -w", ...(program.versionVariable ? [`-X ${program.versionVariable}`] : [])].join(" ");
    const run = await runBounded(go, ["install", "-v", "-ldflags", flags, program.package], {
      // Go's own temporary files lie in our folder, so that a killed build leaves none elsewhere. GOOS and GOARCH would
      // make go refuse GOBIN, and the executable is for this machine.
      env: { ...env, GOBIN: folder, GOTMPDIR: temporaryFiles, GOOS: undefined, GOARCH: undefined, GOFLAGS: undefined },
      cwd: folder,
      timeoutMs: BUILD_TIMEOUT_MS,
      signal,
      onLine: (line) => {
        if (line.startsWith("go: downloading")) counts.modules += 1;
        else if (!line.startsWith("go: ")) counts.packages += 1;
      },
    });
    return run.succeeded ? undefined : run.problem;
  } finally {
    clearInterval(tell);
    await rm(temporaryFiles, { recursive: true, force: true });
  }
}
