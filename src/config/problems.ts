/** Problems of a configuration, each with the expected value. A ConfigError holds all of them. */

export type ConfigProblem = {
  /** Dotted, as in the file: `delivery.relay.host`. */
  key: string
  found: string
  expected: string
  /** File or environment variable that sets the value; null for a default. */
  where: string | null
  /** A similar key that exists. */
  meant?: string
  /** What to do, where the expected value does not say it. */
  remedy?: string
}

const MAX_FOUND_LENGTH = 200

export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly code = 'INVALID_CONFIGURATION'
  readonly problems: readonly ConfigProblem[]

  constructor(problems: readonly ConfigProblem[], options?: ErrorOptions) {
    super(`The configuration cannot be used.\n${problems.map(formatProblem).join('\n')}`, options)
    this.problems = problems
  }
}

function formatProblem({ key, found, expected, where, meant, remedy }: ConfigProblem): string {
  const place = where === null ? '' : ` (${where})`
  const guess = meant === undefined ? '' : `; did you mean ${meant}?`
  const advice = remedy === undefined ? '' : `; ${remedy}`
  return `  ${key}: found ${found}, expected ${expected}${place}${guess}${advice}`
}

/** A found value as text of bounded length. */
export function describeFound(value: unknown): string {
  if (value instanceof Date) return `the date ${value.toString()}`
  const text = JSON.stringify(value) ?? String(value)
  return text.length > MAX_FOUND_LENGTH ? `${text.slice(0, MAX_FOUND_LENGTH)}…` : text
}

/** Describes a secret value without showing it. */
export function describeHidden(value: unknown): string {
  if (typeof value !== 'string') return `a ${Array.isArray(value) ? 'list' : typeof value}`
  return value === '' ? 'an empty text' : `a text of ${value.length} characters`
}
