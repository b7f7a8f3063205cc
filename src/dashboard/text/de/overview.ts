/** Texts of the overview and the first mail. */
export const overview = {} as const
