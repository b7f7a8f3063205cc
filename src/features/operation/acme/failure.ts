/**
 * Why an order failed, as a text for operators: one short line without secrets. The words of the
 * authority are a stranger's text.
 */

/**
 * unreachable   the directory gave no response: the next attempt may be soon
 * refused       the authority refused or failed: each attempt counts towards its rate limits
 */
type OrderFailureKind = 'unreachable' | 'refused'

export class AcmeFailure extends Error {
  override readonly name = 'AcmeFailure'
  readonly kind: OrderFailureKind
  /** How long the authority asks to wait. */
  readonly retryAfterMs: number | null
  /** The last part of the type of a problem document, such as `badNonce`. */
  readonly problem: string | null

  constructor(
    kind: OrderFailureKind,
    text: string,
    {
      retryAfterMs = null,
      problem = null,
    }: Partial<Pick<AcmeFailure, 'retryAfterMs' | 'problem'>> = {},
  ) {
    super(text)
    this.kind = kind
    this.retryAfterMs = retryAfterMs
    this.problem = problem
  }
}

const MAX_TEXT_LENGTH = 400
const MAX_PROBLEM_LENGTH = 60

/** Reads a problem document (RFC 8555 section 6.7); an empty text when it is none. */
export function describeProblem(value: unknown): { problem: string | null; text: string } {
  const { type, detail } = Object(value) as { type?: unknown; detail?: unknown }
  const problem =
    typeof type === 'string' ? plain(type.split(':').at(-1) ?? '', MAX_PROBLEM_LENGTH) : null
  const said = typeof detail === 'string' ? plain(detail, MAX_TEXT_LENGTH) : ''
  return { problem, text: [problem ?? '', said].filter((part) => part !== '').join(': ') }
}

function plain(text: string, maxLength: number): string {
  const line = text.replace(/[\p{C}\p{Z}]+/gu, ' ').trim()
  return line.length > maxLength ? `${line.slice(0, maxLength)}…` : line
}
