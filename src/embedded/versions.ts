/** The Temporal CLI that is downloaded or built when none is installed; it carries server 1.29.1. */
export const TEMPORAL_CLI_VERSION = "1.5.1";

/** The time-skipping test server of Temporal's Java SDK. */
export const TEST_SERVER_VERSION = "1.31.0";

/** Priority and fairness of waiting work need this server line; an older `temporal` on PATH is passed over. */
export const OLDEST_SERVER = { major: 1, minor: 29 } as const;
