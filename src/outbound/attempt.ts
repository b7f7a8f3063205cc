/** An attempt is one try of one delivery, as the database stores it and `queue show` prints it. */
import type { Reply, ReplyVerdict, Stage } from '../formats/replies/reply.ts'

/** The steps of an attempt: the DNS queries, then the stages of its session. */
export type StepName = 'dns' | Exclude<Stage, 'late'>

export type AttemptStep = {
  step: StepName
  /** When the step began: milliseconds since the attempt began. */
  at: number
  durationMs: number
  host?: string
  address?: string
  reply?: Reply
  error?: string
}

export type AttemptOutcome = {
  /** `bounced`: a final refusal by the receiver or by DNS. `failed`: a fault of this program, or a loop. */
  result: 'delivered' | 'relayed' | 'deferred' | 'bounced' | 'failed'
  verdict: ReplyVerdict | null
  host: string | null
  address: string | null
  /** For example 'TLSv1.3, certificate not verified (TLS_AES_256_GCM_SHA384)'; null without TLS. */
  tls: string | null
  /** The reply that decided the outcome. */
  reply: Reply | null
  error: string | null
  steps: readonly AttemptStep[]
  durationMs: number
  /** The connection was lost between the final dot and its reply: the peer may have the message. */
  isMaybeDelivered: boolean
}

/**
 * The current step of an attempt. The delivery thread updates this object in place and reads it when
 * asked, so that a step costs two assignments and no message between threads.
 */
export type CurrentStep = {
  /**
   * `waiting` for a connection, `compose`, then the stages of a session. `message`: the message is
   * being written; `final-dot`: it is written, and its reply has not arrived.
   */
  step: 'waiting' | 'compose' | Exclude<Stage, 'late'> | 'final-dot'
  /** When the step began, epoch ms. */
  since: number
  /** The server of the session; null while there is none. */
  peer: { host: string; address: string } | null
}
