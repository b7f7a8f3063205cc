/** Texts of the list of emails and the story of one. */
export const emails = {} as const
