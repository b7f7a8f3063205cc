/** The present, in epoch milliseconds. Everything that needs the time takes such a function. */
export type Now = () => number

export const now: Now = Date.now

/** An instant as the API writes it: ISO 8601, UTC, milliseconds. */
export function formatInstant(at: number): string {
  return new Date(at).toISOString()
}

/** As `formatInstant`, for columns that may be empty. */
export function formatOptionalInstant(at: number | null): string | null {
  return at === null ? null : formatInstant(at)
}
