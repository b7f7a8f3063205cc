/** Texts of signing in, signing up and setting up. */
export const door = {} as const
