import type { ConfigProblem } from "./config-error.ts";
import type { workerSettings } from "./process-settings.ts";
import type { SettingsResult } from "./setting.ts";

/** A poll holds a slot for the task that it may bring. */
export function checkWorker({ values, where }: SettingsResult<typeof workerSettings>): ConfigProblem[] {
  const { workflowTasks, workflowTaskPolls } = values;
  if (workflowTasks === undefined || workflowTaskPolls === undefined || workflowTaskPolls <= workflowTasks) return [];
  const message = `expected at most ${where("workflowTasks")}, ${workflowTasks}; found ${workflowTaskPolls}`;
  return [{ path: where("workflowTaskPolls"), message }];
}
