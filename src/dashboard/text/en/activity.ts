/** Texts of the feed of activity. */
export const activity = {} as const
