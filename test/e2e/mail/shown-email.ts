/** The fields of `queue show --json` that tests read. */
export type ShownEmail = {
  id: string
  to: string
  subject: string
  state: string
  status: string
  error: string | null
  providerId: string | null
  messageId: string
  nextAttemptAt: string | null
  attempts: {
    at: string
    durationMs: number
    host: string | null
    address: string | null
    tls: string | null
    result: string
    class: string | null
    reply: { code: number; enhancedCode: string | null; text: string } | null
    error: string | null
    maybeDelivered: boolean
    steps: { step: string; at: number; durationMs: number }[]
  }[]
}
