/**
 * What a command may ask the running server: what stands in no row. Question and answer travel as
 * JSON through `server_questions`; each kind has its own shape of both.
 */
import type { SiteStatus } from '../../outbound/sites/site-status.ts'
import type { LiveStatus, LiveStatusQuery } from '../messages/explain/live-status.ts'

export type Questions = {
  /** What holds up these emails. */
  queue: { question: LiveStatusQuery; answer: LiveStatus }
  /** The destinations that something is known of, those in trouble first. */
  sites: { question: Record<string, never>; answer: { sites: SiteStatus[]; left: number } }
  /** Ends the back-off of a destination. */
  lift: {
    question: {
      /** A destination, or a domain (A-labels) whose mail goes there. */
      site: string
      /** Domains that mail waits for. */
      domains: readonly string[]
    }
    answer: {
      site: string
      /** Whether anything is known of the destination. */
      isKnown: boolean
      /** Whether there was anything to lift. */
      isLifted: boolean
      /** Those of the given domains whose mail goes there. */
      domains: string[]
      /** How many emails waited for these when it was lifted, due or not: they go at once. */
      waiting: number
    }
  }
}

export type QuestionKind = keyof Questions
export type QuestionOf<Kind extends QuestionKind> = Questions[Kind]['question']
export type AnswerOf<Kind extends QuestionKind> = Questions[Kind]['answer']

/** As it stands in the row. */
export type StoredAnswer = { answer: unknown } | { error: string }
