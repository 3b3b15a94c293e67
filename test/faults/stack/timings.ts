/**
 * One call of the product may take this long. A loaded machine is slow too, and what it makes late is one more fault.
 */
export const CALL_TIMEOUT_MS = 2_000;

/** Of an attempt that makes a call: `MARGIN_MS` of `workflows/proxies.ts` more than the call. */
export const START_TO_CLOSE_MS = CALL_TIMEOUT_MS + 20_000;

/** Short, in the proportions of the real ones. */
export const TIMINGS: Record<string, string> = {
  FISCALFLOW_TIMING_CALL_TIMEOUT_MS: String(CALL_TIMEOUT_MS),
  FISCALFLOW_TIMING_RESUBMISSIONS: "2",
  FISCALFLOW_TIMING_RESUBMISSION_WINDOW_MS: "3000",
  FISCALFLOW_TIMING_FIRST_POLL_MS: "1000",
  FISCALFLOW_TIMING_FIRST_POLL_WITH_CALLBACK_MS: "8000",
  FISCALFLOW_TIMING_LONGEST_POLL_MS: "2000",
  FISCALFLOW_TIMING_LONGEST_POLL_AFTER_DAY_MS: "2000",
  FISCALFLOW_TIMING_REFUSED_KEY_PAUSE_MS: "1000",
  FISCALFLOW_TIMING_FAILING_PAUSE_MS: "100",
  // The least that the configuration takes.
  FISCALFLOW_TIMING_SLOW_AFTER_MS: "60000",
  FISCALFLOW_TIMING_CATALOGUE_AGE_MS: "3000",
};
