/** One attempt: one try of one delivery, as it is kept and shown by `queue show`. */
import type { Reply, Stage, Verdict } from '../mail/replies/reply.ts'

/** The stages of a session, and the look-up before them. */
export type StepName = 'dns' | Exclude<Stage, 'late'>

export type Step = {
  step: StepName
  /** Milliseconds since the attempt began. */
  at: number
  durationMs: number
  host?: string
  address?: string
  reply?: Reply
  error?: string
}

export type AttemptOutcome = {
  /** `bounced`: a final refusal by the receiver or by DNS; `failed`: our own error, or a loop. */
  result: 'delivered' | 'relayed' | 'deferred' | 'bounced' | 'failed'
  verdict: Verdict | null
  host: string | null
  address: string | null
  /** As 'TLSv1.3, certificate not verified (TLS_AES_256_GCM_SHA384)'; null in clear. */
  tls: string | null
  /** The reply that decided. */
  reply: Reply | null
  error: string | null
  steps: readonly Step[]
  durationMs: number
  /** The peer vanished after the final dot and before its reply: it may have the message. */
  isMaybeDelivered: boolean
}
