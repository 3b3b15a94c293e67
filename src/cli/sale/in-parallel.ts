/** Does the work for each, so many at a time, in order; the results stand in the order of the tasks. */
export async function inParallel<Task, Result>(
  tasks: readonly Task[],
  concurrency: number,
  work: (task: Task, index: number) => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result[]> {
  const results: Result[] = [];
  const pending = tasks.entries();
  const lane = async (): Promise<void> => {
    for (const [index, task] of pending) {
      if (signal?.aborted === true) return;
      results[index] = await work(task, index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, tasks.length) }, lane));
  return results;
}
