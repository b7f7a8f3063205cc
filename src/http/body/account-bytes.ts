/** The bodies of calls that log in or change an account are small, and anyone can send them. */
export const MAX_ACCOUNT_BYTES = 16 * 1024
