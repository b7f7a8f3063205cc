/**
 * The largest body of a call that logs in or changes an account: such bodies are short, and anyone
 * can send them.
 */
export const MAX_ACCOUNT_BYTES = 16 * 1024
