/** What a synchronisation has read so far, or one page of it. */
interface Read {
  rows: number;
  added: number;
  changed: number;
  leftOut?: number | undefined;
}

/** The progress with another page in it. */
export function withPage<Progress extends Read & { pages: number }>(progress: Progress, page: Read): Progress {
  const leftOut = (progress.leftOut ?? 0) + (page.leftOut ?? 0);
  return {
    ...progress,
    pages: progress.pages + 1,
    rows: progress.rows + page.rows,
    added: progress.added + page.added,
    changed: progress.changed + page.changed,
    ...(leftOut > 0 && { leftOut }),
  };
}

/** For people; nothing where no row was left out. */
export function leftOutLines({ leftOut }: Pick<Read, "leftOut">): string[] {
  if (!leftOut) return [];
  return [
    `${leftOut} rows were left out because they do not have the documented form: \`fiscalflow doctor\` names the field`,
  ];
}
