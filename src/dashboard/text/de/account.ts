/** Texts of the account of the user. */
export const account = {} as const
